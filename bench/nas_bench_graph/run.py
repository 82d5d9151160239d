"""Our accuracies against the published table of NAS-Bench-Graph, architecture by architecture.

Usage: python bench/nas_bench_graph/run.py --data DATA --gnas build/examples/gnas/gnas
       [--architectures 60] [--seeds 3] [--reverse]

Every result is appended to ROWS (a .jsonl beside the table) when it is there, and what is there is not
trained again: a run goes on after an interruption, and a second process with --reverse halves the time.

DATA holds cora/ and nas_bench_graph/cora.tsv. Both sides are means over three seeds of the test
accuracy at the first epoch of best validation accuracy, so a difference of about a point is noise.
"""

import argparse
import gzip
import json
import os
import random
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "bench", "peers"))
from gnas_json import train, write  # noqa: E402
from protocol import machine  # noqa: E402


def read_table(stem):
    """Rows of (hash, `link:ops`, validation, test), from NAME.tsv or NAME.tsv.gz."""
    if os.path.exists(stem):
        f = open(stem, encoding="utf-8")
    elif os.path.exists(stem + ".gz"):
        f = gzip.open(stem + ".gz", "rt", encoding="utf-8")
    else:
        raise SystemExit(f"{stem}: no such file, nor {stem}.gz")
    with f:
        cells = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    return [(int(c[0]), f"{c[1]}:{c[2]}", float(c[3]), float(c[4])) for c in cells]


def ranks(values):
    """1-based ranks; equal values share the mean of their places."""
    values = np.asarray(values, dtype=float)
    order = np.argsort(values, kind="stable")
    out = np.empty(len(values))
    first = 0
    while first < len(values):
        last = first
        while last + 1 < len(values) and values[order[last + 1]] == values[order[first]]:
            last += 1
        out[order[first:last + 1]] = (first + last) / 2 + 1
        first = last + 1
    return out


def spearman(a, b):
    ra, rb = ranks(a), ranks(b)
    ra, rb = ra - ra.mean(), rb - rb.mean()
    scale = np.sqrt((ra**2).sum() * (rb**2).sum())
    return float((ra * rb).sum() / scale) if scale > 0 else float("nan")


def summary(rows):
    """Agreement of the rows that have a result."""
    good = [r for r in rows if "test" in r]
    if not good:
        return {}
    ours, theirs = np.array([r["test"] for r in good]), np.array([r["table_test"] for r in good])
    difference = ours - theirs
    return {"count": len(good), "mean_absolute_difference": float(np.abs(difference).mean()),
            "mean_difference": float(difference.mean()),
            "largest_difference": float(np.abs(difference).max()),
            "spearman_test": spearman(ours, theirs),
            "spearman_validation": spearman([r["val"] for r in good],
                                            [r["table_val"] for r in good])}


def markdown(result):
    s, m = result["summary"], result["machine"]
    lines = [f"# NAS-Bench-Graph on {result['dataset']}: ours against the table", "",
             f"{len(result['rows'])} architectures drawn with seed {result['draw_seed']}, "
             f"{result['seeds']} seeds each, recipe `{result['recipe']}`; {m['cpu']}; {m['date']}.", ""]
    if s:
        lines += ["| | |", "|---|---|", f"| architectures with a result | {s['count']} |",
                  f"| mean absolute difference of test accuracy | {100 * s['mean_absolute_difference']:.2f} points |",
                  f"| mean difference (ours - table) | {100 * s['mean_difference']:+.2f} points |",
                  f"| largest | {100 * s['largest_difference']:.2f} points |",
                  f"| Spearman, test | {s['spearman_test']:.3f} |",
                  f"| Spearman, validation | {s['spearman_validation']:.3f} |", ""]
    # The depth of the deepest chain of operators tells most of what is left.
    lines += ["| links | architectures | mean absolute difference | mean difference |", "|---|---|---|---|"]
    for links in sorted({r["arch"].split(":")[0] for r in result["rows"]}):
        part = summary([r for r in result["rows"] if r["arch"].startswith(links + ":")])
        if part:
            lines.append(f"| {links} | {part['count']} | {100 * part['mean_absolute_difference']:.2f} | "
                         f"{100 * part['mean_difference']:+.2f} |")
    lines += [""]
    lines += ["| hash | architecture | validation: ours / table | test: ours / table | difference |",
              "|---|---|---|---|---|"]
    for r in result["rows"]:
        if "test" in r:
            lines.append(f"| {r['hash']} | `{r['arch']}` | {100 * r['val']:.2f} / {100 * r['table_val']:.2f} | "
                         f"{100 * r['test']:.2f} / {100 * r['table_test']:.2f} | "
                         f"{100 * (r['test'] - r['table_test']):+.2f} |")
        else:
            lines.append(f"| {r['hash']} | `{r['arch']}` | failed | {r['failed']} | |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder with cora/ and nas_bench_graph/")
    parser.add_argument("--dataset", default="cora", choices=("cora", "citeseer", "pubmed"))
    parser.add_argument("--gnas", default=os.path.join(ROOT, "build", "examples", "gnas", "gnas"))
    parser.add_argument("--architectures", type=int, default=60)
    parser.add_argument("--draw-seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", help="file of finished rows; default: OUT's name with .jsonl")
    parser.add_argument("--reverse", action="store_true", help="from the last architecture backwards")
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds of one architecture")
    parser.add_argument("--out", help="a .md; a .json lies beside it")
    args = parser.parse_args()
    out = args.out or os.path.join(ROOT, "bench", "results", f"nas_bench_graph_{args.dataset}.md")
    side = os.path.splitext(out)[0] + ".json"

    table = read_table(os.path.join(args.data, "nas_bench_graph", args.dataset + ".tsv"))
    drawn = random.Random(args.draw_seed).sample(table, args.architectures)
    rows = [{"hash": h, "arch": a, "table_val": v, "table_test": t} for h, a, v, t in drawn]
    options = ["--space", "nas-bench-graph", "--recipe", args.dataset, "--seeds", str(args.seeds)]
    result = {"dataset": args.dataset, "recipe": args.dataset, "draw_seed": args.draw_seed,
              "seeds": args.seeds, "machine": machine(), "rows": rows, "summary": {}}

    def evaluate(row):
        return train(args.gnas, os.path.join(args.data, args.dataset),
                     options + ["--arch", row["arch"]], args.limit)

    rows_file = args.rows or os.path.splitext(out)[0] + ".jsonl"

    def finished():
        if not os.path.exists(rows_file):
            return {}
        with open(rows_file, encoding="utf-8") as f:
            done = [json.loads(line) for line in f]
        return {d["arch"]: d for d in done if d["seeds"] == args.seeds}

    for row in reversed(rows) if args.reverse else rows:
        if row["arch"] in finished():
            continue
        trial, reason = evaluate(row)
        if trial is None:
            print(f"{row['arch']}: failed: {reason}", flush=True)
            continue
        print(f"{row['arch']}: test {100 * trial['test']:.2f}, table {100 * row['table_test']:.2f}",
              flush=True)
        with open(rows_file, "a", encoding="utf-8") as f:
            f.write(json.dumps(dict(arch=row["arch"], seeds=args.seeds, val=trial["val"],
                                    test=trial["test"], tests=trial["tests"])) + "\n")
    done = finished()
    for row in rows:
        got = done.get(row["arch"])
        if got:
            row.update(val=got["val"], test=got["test"], tests=got["tests"])
        else:
            row["failed"] = "no result"
    result["summary"] = summary(rows)
    write(side, json.dumps(result, indent=1) + "\n")
    write(out, markdown(result))
    print(json.dumps(result["summary"], indent=1))
    if not result["summary"]:
        raise SystemExit("no architecture has a result")


if __name__ == "__main__":
    main()
