#!/usr/bin/env python3
"""Every header of the core tier must compile as CUDA, host and device side, without warnings.

    cuda_check.py --work FOLDER [--nvcc PATH] [--arch 80,90] [--stamp FILE]

One file includes all of the core tier; when it fails, each header is compiled alone to name the culprits.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

from compile_flags import INCLUDES, ROOT
from list_headers import headers

# data, store and report are for .cpp files; gnas.hpp includes them.
TOOLS_TIER = ("gnas/data/", "gnas/store/", "gnas/report/", "gnas/testing/")


def core_headers():
    return [
        name for name in headers()
        if name.count("/") > 1 and not name.startswith(TOOLS_TIER) and not reaches_tools(name)
    ]


def reaches_tools(name, seen=None):
    """Does the header include the tools tier, directly or not?"""
    seen = set() if seen is None else seen
    seen.add(name)
    for line in (ROOT / "include" / name).read_text(encoding="utf-8").splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == "#include" and words[1].startswith("<gnas/"):
            included = words[1].strip("<>")
            if included.startswith(TOOLS_TIER):
                return True
            if included not in seen and (ROOT / "include" / included).exists():
                if reaches_tools(included, seen):
                    return True
    return False


def compile_cuda(options, names, stem):
    """The compiler's output when it failed, else None."""
    work = pathlib.Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    source = work / (stem + ".cu")
    source.write_text("".join(f"#include <{name}>\n" for name in names), encoding="utf-8")
    command = [options.nvcc, "-std=c++20", "--expt-relaxed-constexpr", "--Werror", "all-warnings",
               "-Xcompiler", "-Wall,-Wextra", *INCLUDES, "-c", str(source), "-o",
               str(work / (stem + ".o"))]
    for arch in options.arch.split(","):
        command += [f"-gencode=arch=compute_{arch},code=sm_{arch}"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    return done.stdout or f"status {done.returncode}" if done.returncode else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", required=True)
    parser.add_argument("--nvcc")
    parser.add_argument("--arch", default="90")
    parser.add_argument("--stamp")
    options = parser.parse_args()
    options.nvcc = options.nvcc or shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if options.nvcc is None:
        print("skip cuda: nvcc is not here, so no header was compiled as CUDA")
        return 0

    names = core_headers()
    failures = 0
    if compile_cuda(options, names, "all") is not None:
        for name in names:
            wrong = compile_cuda(options, [name], name.replace("/", "_"))
            if wrong is not None:
                failures += 1
                print(f"not ok nvcc {name}\n{wrong}")
        if not failures:
            failures = 1
            print("not ok nvcc: the headers compile alone but not together")
    if not failures:
        print(f"ok nvcc accepts {len(names)} core headers for sm {options.arch}")
        if options.stamp:
            pathlib.Path(options.stamp).write_text("ok\n", encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
