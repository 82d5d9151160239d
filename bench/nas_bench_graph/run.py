"""Our accuracies against the published table of NAS-Bench-Graph, architecture by architecture.

Usage: python bench/nas_bench_graph/run.py --data DATA --gnas build/examples/gnas/gnas --curves FOLDER
       [--architectures 60] [--seeds 3] [--only REGEX] [--noise] [--reverse]

DATA holds cora/ and nas_bench_graph/cora.tsv. FOLDER keeps the curves of every training; what is there
is not trained again: a run goes on after an interruption, and a second process with --reverse halves
the time.

The test accuracy of a training is that of one epoch, and the table's file does not say which. Three
rules are compared: the first epoch of best validation accuracy; the first of lowest validation loss; and
that of the code of GraphNAS, the best test accuracy among the epochs that lowered the validation loss,
which sees the test set.
"""

import argparse
import csv
import gzip
import json
import os
import random
import re
import sys
import tempfile

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


RULES = {"accuracy": "best validation accuracy", "loss": "lowest validation loss",
         "graphnas": "GraphNAS's rule"}


def read_curve(path):
    """(best validation accuracy, {rule: test accuracy at the epoch that it takes}) of one training."""
    with open(path, encoding="utf-8") as f:
        epochs = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(f)]
    epochs = [e for e in epochs if e["val_loss"] == e["val_loss"]] or epochs
    by_accuracy = max(epochs, key=lambda e: e["val"])  # max and min take the first of equals
    by_loss = min(epochs, key=lambda e: e["val_loss"])
    lowest, best = float("inf"), 0.0
    for e in epochs:
        if e["val_loss"] < lowest:
            lowest, best = e["val_loss"], max(best, e["test"])
    return by_accuracy["val"], {"accuracy": by_accuracy["test"], "loss": by_loss["test"], "graphnas": best}


def agreement(ours, theirs):
    """Means and ranks of two lists of accuracies, in points."""
    difference = 100 * (np.asarray(ours) - np.asarray(theirs))
    return {"count": len(difference), "mean_absolute_difference": float(np.abs(difference).mean()),
            "median_absolute_difference": float(np.median(np.abs(difference))),
            "mean_difference": float(difference.mean()),
            "largest_difference": float(np.abs(difference).max()), "spearman": spearman(ours, theirs)}


def summary(rows):
    """Agreement of the rows that have a result, by rule; of validation; and of ours with ours."""
    good = [r for r in rows if "test" in r]
    if not good:
        return {}
    out = {"validation": agreement([r["val"] for r in good], [r["table_val"] for r in good])}
    for rule in RULES:
        out[rule] = agreement([r["test"][rule] for r in good], [r["table_test"] for r in good])
        again = [r for r in good if "again" in r]
        if again:
            out[rule + "_again"] = agreement([r["again"][rule] for r in again], [r["test"][rule] for r in again])
    # What selection costs: the best validation accuracy less the test accuracy that is reported.
    out["gap"] = {"table": spread([r["table_val"] - r["table_test"] for r in good])}
    for rule in RULES:
        out["gap"][rule] = spread([r["val"] - r["test"][rule] for r in good])
    return out


def spread(values):
    values = 100 * np.asarray(values)
    return {"mean": float(values.mean()), "std": float(values.std()),
            "deciles": [float(np.quantile(values, q)) for q in (0.1, 0.5, 0.9)]}


def markdown(result):
    s, m = result["summary"], result["machine"]
    only = f" among those that match `{result['only']}`" if result["only"] else ""
    lines = [f"# NAS-Bench-Graph on {result['dataset']}: ours against the table", "",
             f"{len(result['rows'])} architectures drawn with seed {result['draw_seed']}{only}, "
             f"{result['seeds']} seed{'s' * (result['seeds'] != 1)} each, recipe `{result['recipe']}`; "
             f"{m['cpu']}; {m['date']}. What the rules are and what the figures say: "
             "[bench/nas_bench_graph](../nas_bench_graph/README.md).", ""]
    lines += ["| compared | architectures | mean absolute difference | median | mean | largest | Spearman |",
              "|---|---|---|---|---|---|---|"]

    def line(name, a):
        return (f"| {name} | {a['count']} | {a['mean_absolute_difference']:.2f} | "
                f"{a['median_absolute_difference']:.2f} | {a['mean_difference']:+.2f} | "
                f"{a['largest_difference']:.2f} | {a['spearman']:.3f} |")

    lines.append(line("validation, ours - table", s["validation"]))
    lines += [line(f"test by {name}, ours - table", s[rule]) for rule, name in RULES.items()]
    lines += [line(f"test by {name}, ours with other seeds - ours", s[rule + "_again"])
              for rule, name in RULES.items() if rule + "_again" in s]
    lines += ["", "Best validation accuracy less reported test accuracy, points:", "",
              "| | mean | standard deviation | 10 % | median | 90 % |", "|---|---|---|---|---|---|"]
    for key, name in [("table", "table"), *((rule, f"ours, test by {name}") for rule, name in RULES.items())]:
        g = s["gap"][key]
        lines.append(f"| {name} | {g['mean']:.2f} | {g['std']:.2f} | "
                     + " | ".join(f"{d:.2f}" for d in g["deciles"]) + " |")
    # The depth of the deepest chain of operators tells most of what is left.
    lines += ["", "By links, mean absolute difference and mean difference of test, ours - table; in brackets the mean "
              "absolute difference of ours with other seeds:", "",
              "| links | architectures | validation | " + " | ".join(RULES.values()) + " |", "|---|---|---|" + "---|" * len(RULES)]
    for links in sorted({r["arch"].split(":")[0] for r in result["rows"]}):
        part = summary([r for r in result["rows"] if r["arch"].startswith(links + ":")])
        if part:
            cells = [f"{part[r]['mean_absolute_difference']:.2f} / {part[r]['mean_difference']:+.2f}"
                     + (f" ({part[r + '_again']['mean_absolute_difference']:.2f})" if r + "_again" in part else "")
                     for r in RULES]
            lines.append(f"| {links} | {part['accuracy']['count']} | {part['validation']['mean_difference']:+.2f} | "
                         + " | ".join(cells) + " |")
    lines += ["", "| hash | architecture | validation: ours / table | table's test | "
              + " | ".join(RULES.values()) + " |", "|---|---|---|---|" + "---|" * len(RULES)]
    for r in result["rows"]:
        if "test" in r:
            diverged = f" ({r['diverged']} of {result['seeds']} diverged)" if r["diverged"] else ""
            lines.append(f"| {r['hash']} | `{r['arch']}`{diverged} | {100 * r['val']:.2f} / {100 * r['table_val']:.2f} | "
                         f"{100 * r['table_test']:.2f} | "
                         + " | ".join(f"{100 * r['test'][k]:.2f} ({100 * (r['test'][k] - r['table_test']):+.2f})"
                                      for k in RULES) + " |")
        else:
            lines.append(f"| {r['hash']} | `{r['arch']}` | failed | {r['failed']} |" + " |" * len(RULES))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder with cora/ and nas_bench_graph/")
    parser.add_argument("--dataset", default="cora", choices=("cora", "citeseer", "pubmed"))
    parser.add_argument("--gnas", default=os.path.join(ROOT, "build", "examples", "gnas", "gnas"))
    parser.add_argument("--architectures", type=int, default=60)
    parser.add_argument("--draw-seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="draw among the architectures that this pattern finds")
    parser.add_argument("--curves", required=True, help="folder of the trainings' curves")
    parser.add_argument("--noise", action="store_true", help="train as many other seeds and compare ours with ours")
    parser.add_argument("--reverse", action="store_true", help="from the last architecture backwards")
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds of one architecture")
    parser.add_argument("--out", help="a .md; a .json lies beside it")
    args = parser.parse_args()
    out = args.out or os.path.join(ROOT, "bench", "results", f"nas_bench_graph_{args.dataset}.md")
    side = os.path.splitext(out)[0] + ".json"

    table = read_table(os.path.join(args.data, "nas_bench_graph", args.dataset + ".tsv"))
    pattern = re.compile(args.only)
    drawn = random.Random(args.draw_seed).sample([t for t in table if pattern.search(t[1])], args.architectures)
    rows = [{"hash": h, "arch": a, "table_val": v, "table_test": t} for h, a, v, t in drawn]
    result = {"dataset": args.dataset, "recipe": args.dataset, "draw_seed": args.draw_seed, "only": args.only,
              "seeds": args.seeds, "machine": machine(), "rows": rows, "summary": {}}
    os.makedirs(args.curves, exist_ok=True)

    def curves(arch, first):
        """Trains seeds first, first + 1, ... unless they are there: (curves, number that diverged), or (None, reason)."""
        folder = os.path.join(args.curves, f"{re.sub('[,:]', '-', arch)}.{first}+{args.seeds}")
        if not os.path.isdir(folder):
            # Renamed when it is whole: an interrupted training leaves nothing that looks finished.
            with tempfile.TemporaryDirectory(dir=args.curves) as scratch:
                out = os.path.join(scratch, "run")
                _, reason = train(
                    args.gnas, os.path.join(args.data, args.dataset),
                    ["--space", "nas-bench-graph", "--recipe", args.dataset, "--seeds", str(args.seeds), "--seed",
                     str(first), "--threads", "1", "--arch", arch, "--out", out], args.limit)
                # A training that diverged keeps its best epoch so far, as the benchmark's loop does.
                made = [os.path.join(out, f"seed-{first + k}.csv") for k in range(args.seeds)]
                if not all(os.path.exists(f) and sum(1 for _ in open(f)) > 1 for f in made):
                    return None, reason or "no curve"
                if not os.path.isdir(folder):  # the other process may have been faster
                    os.rename(out, folder)
        with open(os.path.join(folder, "result.json"), encoding="utf-8") as f:
            diverged = sum(seed["status"] == "diverged" for seed in json.load(f)["seeds"])
        return [read_curve(os.path.join(folder, f"seed-{first + k}.csv")) for k in range(args.seeds)], diverged

    def mean_test(read):
        return {rule: sum(test[rule] for _, test in read) / len(read) for rule in RULES}

    for row in reversed(rows) if args.reverse else rows:
        read, other = curves(row["arch"], 0)
        if read is None:
            row["failed"] = other
            print(f"{row['arch']}: failed: {other}", flush=True)
            continue
        row["diverged"] = other
        row["val"] = sum(val for val, _ in read) / len(read)
        row["test"] = mean_test(read)
        row["tests"] = [test for _, test in read]
        if args.noise:
            read, _ = curves(row["arch"], args.seeds)
            if read is not None:
                row["again"] = mean_test(read)
        print(f"{row['arch']}: table {100 * row['table_test']:.2f}, ours "
              + ", ".join(f"{100 * v:.2f}" for v in row["test"].values()), flush=True)
    result["summary"] = summary(rows)
    write(side, json.dumps(result, indent=1) + "\n")
    write(out, markdown(result))
    print(json.dumps(result["summary"], indent=1))
    if not result["summary"]:
        raise SystemExit("no architecture has a result")


if __name__ == "__main__":
    main()
