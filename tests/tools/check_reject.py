#!/usr/bin/env python3
"""Programs that must not compile, and why: tests/reject/*.cpp.

The first line of a file, a comment, is what the compiler must say. The same file with GNAS_FIXED
defined must compile, so that a file is refused for the reason that it names and for no other.
"""

import argparse
import concurrent.futures
import shutil
import subprocess
import sys

from compile_flags import INCLUDES, ROOT, WARNINGS


def compile_file(compiler, source, fixed):
    command = [compiler, "-std=c++20", "-fsyntax-only", *WARNINGS, *INCLUDES, str(source)]
    done = subprocess.run(command + (["-DGNAS_FIXED"] if fixed else []), cwd=ROOT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout


def check(compiler, source):
    """None when the file is refused as it says, else what went wrong."""
    first = source.read_text(encoding="utf-8").splitlines()[0]
    if not first.startswith("// ") or len(first) < 20:
        return "its first line does not say what the compiler must answer"
    code, output = compile_file(compiler, source, fixed=True)
    if code != 0:
        return "does not compile with GNAS_FIXED:\n" + output
    code, output = compile_file(compiler, source, fixed=False)
    if code == 0:
        return "compiles, but must not"
    # A long literal is one message, whatever its line breaks in the source.
    if first[3:] not in output.replace('" "', ""):
        return f"the compiler does not say '{first[3:]}':\n" + output[:2000]
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    sources = sorted((ROOT / "tests" / "reject").glob("*.cpp"))
    failures = 0
    if not sources:
        print("not ok reject: no tests/reject/*.cpp")
        return 1
    for compiler in ("g++", "clang++"):
        if shutil.which(compiler) is None:
            print(f"skip reject: {compiler} is not here")
            continue
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for source, wrong in zip(sources, pool.map(lambda s: check(compiler, s), sources)):
                failures += wrong is not None
                print(f"ok {compiler} refuses {source.name}" if wrong is None
                      else f"not ok {compiler} {source.name}: {wrong}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
