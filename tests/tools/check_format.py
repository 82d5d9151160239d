#!/usr/bin/env python3
"""Every C++ and CUDA file must be as clang-format 14 leaves it."""

import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("include", "tests", "examples", "bench")
SUFFIXES = (".hpp", ".cpp", ".cu", ".cuh")


def main():
    # The version is pinned: another one formats differently.
    program = shutil.which("clang-format-14")
    if program is None:
        print("skip format: clang-format-14 is not here (Debian: clang-format-14)")
        return 0
    files = sorted(
        path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES
    )
    done = subprocess.run([program, "--dry-run", "-Werror", *map(str, files)], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == 0:
        print(f"ok {len(files)} files are formatted")
        return 0
    print(done.stdout)
    bad = sorted({line.split(":", 1)[0] for line in done.stdout.splitlines() if ": error:" in line})
    for path in bad:
        print("not ok format: " + str(pathlib.Path(path).relative_to(ROOT)))
    if not bad:
        print(f"not ok format: clang-format-14 ended with status {done.returncode}")
    print("way out: clang-format-14 -i FILE")
    return 1


if __name__ == "__main__":
    sys.exit(main())
