#!/usr/bin/env python3
"""Runs each built example and compares what it prints with the comment at the end of its source.

After the line `// Expected output:` the source ends with the output in comment lines. `...` stands for
any text within a line; a line that is only `...` stands for any number of lines.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("GNAS_BUILD", ROOT / "build"))
LIMIT_S = 300
HEAD = "// Expected output:"


def expected(source):
    """The promised lines; None when the source promises nothing."""
    lines = source.read_text(encoding="utf-8").rstrip("\n").split("\n")
    heads = [i for i, line in enumerate(lines) if line.strip() == HEAD]
    if len(heads) != 1:
        return None
    block = lines[heads[0] + 1 :]
    if not block or not all(line.startswith("//") for line in block):
        return None
    return [line[2:].removeprefix(" ").rstrip() for line in block]


def pattern(lines):
    parts = []
    for line in lines:
        if line.strip() == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(r"[^\n]*".join(map(re.escape, line.split("..."))) + r"[ \t]*\n")
    return re.compile("".join(parts))


def run(source):
    """What is wrong with one example; None when nothing is."""
    program = BUILD / "examples" / source.stem
    if not program.exists():
        return f"{program} was not built"
    lines = expected(source)
    if lines is None:
        return f"must end with '{HEAD}' and the output as comment lines"
    # An example may write files next to where it runs; the data are found from the project's root.
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, TMPDIR=folder)
        try:
            done = subprocess.run([str(program)], cwd=ROOT, env=environment, timeout=LIMIT_S,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, check=False)
        except subprocess.TimeoutExpired:
            return f"still running after {LIMIT_S} s"
    if done.returncode != 0:
        return f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
    text = done.stdout if done.stdout.endswith("\n") or not done.stdout else done.stdout + "\n"
    if not pattern(lines).fullmatch(text):
        return "printed\n" + text + "-- but promised\n" + "\n".join(lines)
    return None


def main():
    sources = sorted((ROOT / "examples").glob("[0-9][0-9]_*.cpp"))
    if not sources:
        print("skip examples: no examples/NN_*.cpp here")
        return 0
    failures = 0
    for source in sources:
        wrong = run(source)
        if wrong is None:
            print(f"ok {source.name}")
        else:
            failures += 1
            print(f"not ok {source.name}: {wrong}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
