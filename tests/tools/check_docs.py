#!/usr/bin/env python3
"""Code blocks of the pages must equal the compiled files that they were cut from.

In a page, `<!-- from FILE NAME -->` stands on the line before a fenced block; in FILE, the same text
stands between `// example-begin NAME` and `// example-end NAME`, indented or not; where `#` begins a
comment, `# example-begin NAME`.

The table of docs/cases.md and the names of the tests must speak of the same cases.

    check_docs.py [--write]      with --write, the blocks are rewritten from the files
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
MARK = re.compile(r"^[ \t]*<!-- from (\S+) (\S+) -->[ \t]*$")


def pages():
    skip = ("build", ".git", ".venv")
    for path in sorted(ROOT.rglob("*.md")):
        if not path.relative_to(ROOT).parts[0].startswith(skip):
            yield path


def marks(end, name):
    return (f"// example-{end} {name}", f"# example-{end} {name}")


def cut(file, name):
    """The marked text of a file without its common indentation; raises ValueError."""
    path = ROOT / file
    if not path.is_file():
        raise ValueError(f"{file} is not there")
    lines = path.read_text(encoding="utf-8").splitlines()
    begins = [i for i, line in enumerate(lines) if line.strip() in marks("begin", name)]
    ends = [i for i, line in enumerate(lines) if line.strip() in marks("end", name)]
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        raise ValueError(f"{file} must hold `// example-begin {name}` and `// example-end {name}` once each")
    return textwrap.dedent("\n".join(lines[begins[0] + 1 : ends[0]])).strip("\n").split("\n")


def check(path, write):
    """Prints the checks of one page; returns the numbers of blocks and of failures."""
    lines = path.read_text(encoding="utf-8").splitlines()
    shown = path.relative_to(ROOT)
    blocks = failures = 0
    i = 0
    while i < len(lines):
        match = MARK.match(lines[i])
        i += 1
        if not match:
            continue
        blocks += 1
        where = f"{shown}:{i}: {match.group(1)} {match.group(2)}"
        try:
            wanted = cut(*match.groups())
            if i >= len(lines) or not lines[i].startswith("```"):
                raise ValueError("the next line must open a fenced block")
            end = next((k for k in range(i + 1, len(lines)) if lines[k].startswith("```")), None)
            if end is None:
                raise ValueError("the fenced block never ends")
            if lines[i + 1 : end] != wanted:
                if not write:
                    raise ValueError("differs from the file; way out: tests/tools/check_docs.py --write")
                lines[i + 1 : end] = wanted
                path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            print(f"ok {where}")
        except ValueError as error:
            failures += 1
            print(f"not ok {where}: {error}")
    return blocks, failures


def check_cases():
    """Prints whether docs/cases.md and the tests name the same cases; returns the number of failures."""
    page = (ROOT / "docs/cases.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| ([LOTSU]\d\d) \|", page, re.MULTILINE))
    named = set()
    for path in [*ROOT.glob("tests/*/*_test.cpp"), *ROOT.glob("tests/e2e/*.py")]:
        for name in re.findall(r'TEST_CASE\(\s*((?:"[^"]*"\s*)+)|"""(.*?)"""', path.read_text(encoding="utf-8"), re.DOTALL):
            named |= set(re.findall(r"\b[LOTSU]\d\d\b", name[0] or name[1]))
    wrong = [f"{case} is the name of no test" for case in sorted(listed - named)]
    wrong += [f"{case} has no row" for case in sorted(named - listed)]
    for line in wrong:
        print(f"not ok docs/cases.md: {line}")
    if not wrong:
        print(f"ok docs/cases.md: {len(listed)} cases have tests")
    return len(wrong)


def main():
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(__doc__)
    counts = [check(path, sys.argv[1:] == ["--write"]) for path in pages()]
    if not sum(blocks for blocks, _ in counts):
        print("skip docs: no page quotes a file")
    return 1 if sum(failures for _, failures in counts) + check_cases() else 0


if __name__ == "__main__":
    sys.exit(main())
