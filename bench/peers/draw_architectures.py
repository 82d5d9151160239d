"""Draws the ten NAS-Bench-Graph architectures of architectures.txt, and the 40 of candidates.txt.

Usage: python draw_architectures.py NAS_BENCH_GRAPH_TABLE.tsv
"""

import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = """# The twelve contenders of epochs per second, one a line: `gcn` (Kipf and Welling), `gat`
# (Velickovic et al.), then ten of NAS-Bench-Graph as link:ops, drawn by draw_architectures.py.
"""


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        rows = [line.split("\t") for line in f if not line.startswith("#")]
    names = [f"{link}:{ops}" for _, link, ops, *_ in rows]
    with open(os.path.join(HERE, "architectures.txt"), "w", encoding="utf-8") as f:
        f.write(HEAD + "gcn\ngat\n" + "\n".join(random.Random(2024).sample(names, 10)) + "\n")
    with open(os.path.join(HERE, "candidates.txt"), "w", encoding="utf-8") as f:
        f.write("# The 40 candidates of the whole-search comparison, drawn by draw_architectures.py.\n")
        f.write("\n".join(random.Random(2025).sample(names, 40)) + "\n")


if __name__ == "__main__":
    main()
