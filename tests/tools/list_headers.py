#!/usr/bin/env python3
"""Keeps the list of public headers in include/meson.build equal to the tree.

    list_headers.py            print the headers, one a line
    list_headers.py --write    write the list
    list_headers.py --check    exit 1 when the list and the tree differ
"""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MESON = ROOT / "include" / "meson.build"
BEGIN = "# list-begin: written by tests/tools/list_headers.py --write\n"
END = "# list-end\n"


def headers():
    """Public headers relative to include/, sorted."""
    found = (ROOT / "include" / "gnas").rglob("*")
    return sorted(
        str(path.relative_to(ROOT / "include")) for path in found if path.suffix in (".hpp", ".cuh")
    )


def listed(text):
    """Headers that the Meson file names now."""
    block = text.split(BEGIN, 1)[1].split(END, 1)[0]
    return [line.strip().strip("',") for line in block.splitlines() if line.startswith("  '")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--write", action="store_true")
    group.add_argument("--check", action="store_true")
    options = parser.parse_args()

    tree = headers()
    if not options.write and not options.check:
        print("\n".join(tree))
        return 0
    text = MESON.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{MESON}: the marker lines list-begin and list-end must each stand there once")
    if options.write:
        before, rest = text.split(BEGIN, 1)
        after = rest.split(END, 1)[1]
        block = "gnas_headers = [\n" + "".join(f"  '{name}',\n" for name in tree) + "]\n"
        wanted = before + BEGIN + block + END + after
        if wanted != text:
            MESON.write_text(wanted, encoding="utf-8")
        return 0
    now = listed(text)
    for name in sorted(set(tree) - set(now)):
        print(f"include/{name}: not in the list of include/meson.build")
    for name in sorted(set(now) - set(tree)):
        print(f"include/{name}: listed in include/meson.build but not there")
    if now != tree:
        print("way out: tests/tools/list_headers.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
