#!/usr/bin/env python3
"""Prints sources for Meson, which has no globs: one line a program, `name source...`, sorted.

    list_sources.py tests      one program a folder of tests/ that holds *_test.cpp
    list_sources.py examples   one program an examples/NN_*.cpp
    list_sources.py program    the sources of examples/gnas, as one program
    list_sources.py bench      one program a bench/*.cpp
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def each(folder, pattern):
    return [(path.stem, [path]) for path in sorted((ROOT / folder).glob(pattern))]


def programs(kind):
    if kind == "tests":
        folders = sorted({path.parent for path in (ROOT / "tests").glob("*/*_test.cpp")})
        return [(folder.name, sorted(folder.glob("*_test.cpp"))) for folder in folders]
    if kind == "examples":
        return each("examples", "[0-9][0-9]_*.cpp")
    if kind == "program":
        sources = sorted((ROOT / "examples" / "gnas").glob("*.cpp"))
        return [("gnas", sources)] if sources else []
    if kind == "bench":
        return each("bench", "*.cpp")
    sys.exit(f"list_sources.py: '{kind}' is none of tests, examples, program, bench")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name, sources in programs(sys.argv[1]):
        print(" ".join([name, *(str(path.relative_to(ROOT)) for path in sources)]))


if __name__ == "__main__":
    main()
