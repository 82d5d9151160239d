#!/usr/bin/env python3
"""Each public header must compile alone, without warnings: g++, and clang++ when it is here.

    check_headers.py [--jobs N]
"""

import argparse
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from compile_flags import INCLUDES, ROOT, WARNINGS
from list_headers import headers

SLOWEST = 5


def compile_alone(compiler, header, folder):
    """(seconds, output or None) of one header in a file of its own."""
    source = pathlib.Path(folder) / (header.replace("/", "_") + ".cpp")
    # Included twice: the include guard must hold.
    source.write_text(f"#include <{header}>\n#include <{header}>\n", encoding="utf-8")
    begin = time.monotonic()
    done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", *WARNINGS, *INCLUDES, str(source)],
                          cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    return time.monotonic() - begin, done.stdout if done.returncode else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()

    wanted = [name for name in headers() if name.endswith(".hpp")]
    failures = 0
    for compiler in ("g++", "clang++"):
        if shutil.which(compiler) is None:
            print(f"skip headers: {compiler} is not here")
            continue
        times = []
        with tempfile.TemporaryDirectory() as folder:
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                runs = pool.map(lambda name: compile_alone(compiler, name, folder), wanted)
                for name, (seconds, wrong) in zip(wanted, runs):
                    times.append((seconds, name))
                    if wrong is None:
                        print(f"ok {compiler} {name}")
                    else:
                        failures += 1
                        print(f"not ok {compiler} {name}\n{wrong}")
        slowest = ", ".join(f"{name} {seconds:.1f} s" for seconds, name in sorted(times)[::-1][:SLOWEST])
        print(f"{compiler}, slowest: {slowest}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
