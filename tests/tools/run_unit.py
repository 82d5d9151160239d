#!/usr/bin/env python3
"""Runs unit test programs and reports each test case: run_unit.py PROGRAM...

The programs write a log of their test cases (tests/main.cpp). A case that asserts nothing must have
said why in a line `SKIP: reason` on stderr; otherwise it fails, because it tests nothing.
"""

import os
import pathlib
import platform
import subprocess
import sys
import tempfile

LIMIT_S = 900


def fixed_addresses():
    """A command prefix that turns address randomization off, where the system lets us.

    The thread sanitizer of g++ 12 refuses to start where a kernel randomizes more bits than it knows.
    """
    prefix = ["setarch", platform.machine(), "-R"]
    try:
        done = subprocess.run([*prefix, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False)
    except OSError:
        return []
    return prefix if done.returncode == 0 else []


PREFIX = fixed_addresses()


def read_log(path):
    """(ended cases as (status, assertions, name), name of a case that never ended or None)."""
    ended, running = [], None
    if path.exists():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("begin "):
                running = line[6:]
            elif line.startswith("end "):
                _, status, assertions, name = line.split(" ", 3)
                ended.append((status, int(assertions), name))
                running = None
    return ended, running


def run(program):
    """Prints the checks of one program; returns the number of failures."""
    name = pathlib.Path(program).name
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        environment = dict(os.environ, GNAS_TEST_LOG=str(log), TMPDIR=folder)
        command = [*PREFIX, program, "--order", "rand", "--rng-seed", "1"]
        try:
            done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=LIMIT_S, check=False)
            code, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            code, out, err = None, late.stdout or b"", late.stderr or b""
        ended, running = read_log(log)

    reasons = [line[5:].strip() for line in err.decode("utf-8", "replace").splitlines()
               if line.startswith("SKIP:")]
    failures = 0
    empty = [case for status, assertions, case in ended if status == "passed" and assertions == 0]
    for status, assertions, case in ended:
        if status == "failed":
            failures += 1
            print(f"not ok {name}: {case}")
        elif assertions > 0:
            print(f"ok {name}: {case}")
    for reason in reasons:
        print(f"skip {name}: {reason}")
    if len(empty) > len(reasons):
        failures += 1
        print(f"not ok {name}: {len(empty)} test cases assert nothing, {len(reasons)} gave a reason: "
              + "; ".join(empty))
    if running is not None:
        failures += 1
        how = f"still running after {LIMIT_S} s" if code is None else f"took the program down (status {code})"
        print(f"not ok {name}: {running}: {how}")
    elif code != 0 and failures == 0:
        failures += 1
        print(f"not ok {name}: exit status {code} after all test cases")
    elif not ended:
        failures += 1
        print(f"not ok {name}: ran no test case")
    sys.stdout.flush()
    if failures:
        # Indented, so that nothing a test prints reads as a check.
        for line in (out + b"\n" + err).decode("utf-8", "replace").splitlines():
            print("  " + line)
    return failures


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    return 1 if sum([run(program) for program in sys.argv[1:]]) else 0


if __name__ == "__main__":
    sys.exit(main())
