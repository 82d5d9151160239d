#!/usr/bin/env python3
"""Reads the includes of every public header: none may point against the direction of the layers.

core < graph < op < kernel < cpu, cuda < model < train < space, cache, schedule, ring, plan < search.
data, store and report stand beside: no header of the core tier includes them, gnas.hpp excepted.
"""

import pathlib
import re
import sys

INCLUDE_DIR = pathlib.Path(__file__).resolve().parents[2] / "include"
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)

LEVELS = [
    ("core",), ("graph",), ("op",), ("kernel",), ("cpu", "cuda"), ("model",), ("train",),
    ("space", "cache", "schedule", "ring", "plan"), ("search",),
]
LEVEL = {folder: number for number, folders in enumerate(LEVELS) for folder in folders}
BESIDE = ("data", "store", "report")

# Plain data that any header may include.
PLAIN_DATA = {"gnas/search/trial.hpp", "gnas/train/config.hpp"}
# A shard keeps the coefficients that the normalizations of the operators ask for.
# A search's result prints itself: the ranked table needs the standard library alone.
EXCEPTIONS = {("gnas/graph/shard.hpp", "gnas/op/operator.hpp"),
              ("gnas/search/searcher.hpp", "gnas/report/table.hpp")}

# Third-party headers stay in leaves, so that a .cu file may include the whole core tier.
TOOLS_ONLY = re.compile(r"^(zlib\.h|zip\.h|sqlite3\.h|nlohmann/|CLI/)")


def folder_of(header):
    parts = header.split("/")
    return parts[1] if len(parts) > 2 else ""


def broken_rule(header, included):
    """Why `header` may not include `included`; None when it may."""
    here = folder_of(header)
    if not included.startswith("gnas/"):
        if TOOLS_ONLY.match(included) and here not in BESIDE:
            return "belongs to data, store and report"
        return None
    if not (INCLUDE_DIR / included).exists():
        return "there is no such header"
    if here in ("", "testing") or included in PLAIN_DATA or (header, included) in EXCEPTIONS:
        return None
    there = folder_of(included)
    if there == "":
        return "gnas.hpp is for users, not for headers under it"
    if here in BESIDE:
        return None
    if there in BESIDE:
        return f"{there} stands beside the core tier, which does not know it"
    if here not in LEVEL:
        return f"folder {here} has no place in the layers; give it one in tests/tools/check_arrows.py"
    if there not in LEVEL:
        return f"folder {there} has no place in the layers; give it one in tests/tools/check_arrows.py"
    if here == there or LEVEL[there] < LEVEL[here]:
        return None
    return f"{there} is not below {here}"


def main():
    failed = count = 0
    for path in sorted((INCLUDE_DIR / "gnas").rglob("*")):
        if path.suffix not in (".hpp", ".cuh"):
            continue
        header = str(path.relative_to(INCLUDE_DIR))
        text = path.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            count += 1
            why = broken_rule(header, match.group(1))
            if why:
                failed += 1
                line = text.count("\n", 0, match.start(1)) + 1
                print(f"not ok include/{header}:{line}: includes {match.group(1)}: {why}")
    if not failed:
        print(f"ok {count} includes point downwards")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
