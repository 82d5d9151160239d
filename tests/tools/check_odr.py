#!/usr/bin/env python3
"""Two files that include gnas/gnas.hpp, and two that include every header, must link and run."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from compile_flags import INCLUDES, ROOT, WARNINGS
from list_headers import headers

TOOLS_LIBRARIES = ["-lz", "-lzip", "-lsqlite3", "-pthread"]


def link(name, first, second):
    """Prints one check; returns the number of failures."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program"
        command = ["g++", "-std=c++20", "-O0", *WARNINGS, *INCLUDES, str(first), str(second), "-o",
                   str(program), *TOOLS_LIBRARIES]
        for step in (command, [str(program)]):
            done = subprocess.run(step, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, check=False)
            if done.returncode:
                print(f"not ok {name}: {pathlib.Path(step[0]).name} ended with {done.returncode}")
                print(done.stdout)
                return 1
    print(f"ok {name}")
    return 0


def main():
    if shutil.which("g++") is None:
        print("skip odr: g++ is not here")
        return 0
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        # Headers that gnas.hpp leaves out must link as well.
        every = "".join(f"#include <{name}>\n" for name in headers() if name.endswith(".hpp"))
        first, second = pathlib.Path(folder) / "first.cpp", pathlib.Path(folder) / "second.cpp"
        first.write_text(every + "int main() { return 0; }\n", encoding="utf-8")
        second.write_text(every, encoding="utf-8")
        failures += link("every header in two files", first, second)
    if (ROOT / "include" / "gnas" / "gnas.hpp").exists():
        source = ROOT / "tests" / "odr"
        failures += link("gnas.hpp in two files", source / "first.cpp", source / "second.cpp")
    else:
        print("skip odr: include/gnas/gnas.hpp is not here")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
