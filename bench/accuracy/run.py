"""Ten-seed accuracy of the GCN and GAT reference models against the published numbers.

Usage: python bench/accuracy/run.py --data DATA --gnas build/examples/gnas/gnas [--seeds 10]
"""

import argparse
import json
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "bench", "peers"))
from gnas_json import train, write  # noqa: E402
from protocol import machine  # noqa: E402

# percent on the public split: Kipf and Welling 2017; Velickovic et al. 2018
PUBLISHED = {("gcn", "cora"): 81.5, ("gcn", "citeseer"): 70.3, ("gcn", "pubmed"): 79.0,
             ("gat", "cora"): 83.0, ("gat", "citeseer"): 72.5, ("gat", "pubmed"): 79.0}


def recipe(model, data):
    """PubMed has settings of its own for GAT."""
    return "gat-pubmed" if (model, data) == ("gat", "pubmed") else model


def markdown(result):
    m = result["machine"]
    lines = ["# Accuracy of the reference models", "",
             f"Test accuracy in percent at the first epoch of best validation accuracy, public split, "
             f"{result['seeds']} seeds: mean (sample standard deviation); {m['cpu']}; {m['date']}.", "",
             "| model | data | recipe | ours | published | difference |", "|---|---|---|---|---|---|"]
    for r in result["rows"]:
        start = f"| {r['model']} | {r['data']} | `{r['recipe']}` | "
        if "test" in r:
            spread = f" ({100 * r['std']:.1f})" if r["std"] is not None else ""
            lines.append(start + f"{100 * r['test']:.1f}{spread} | {r['published']:.1f} | "
                         f"{100 * r['test'] - r['published']:+.1f} |")
        else:
            lines.append(start + f"failed: {r['failed']} | {r['published']:.1f} | |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder with cora/, citeseer/, pubmed/")
    parser.add_argument("--gnas", default=os.path.join(ROOT, "build", "examples", "gnas", "gnas"))
    parser.add_argument("--models", default="gcn,gat")
    parser.add_argument("--datasets", default="cora,citeseer,pubmed")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds of one row")
    parser.add_argument("--out", default=os.path.join(ROOT, "bench", "results", "accuracy.md"))
    args = parser.parse_args()
    result = {"seeds": args.seeds, "machine": machine(), "rows": []}
    for data in args.datasets.split(","):
        for model in args.models.split(","):
            if (model, data) not in PUBLISHED:
                parser.error(f"no published number for {model} on {data}")
            row = {"model": model, "data": data, "recipe": recipe(model, data),
                   "published": PUBLISHED[model, data]}
            trial, reason = train(args.gnas, os.path.join(args.data, data),
                                  ["--space", "reference", "--arch", model, "--recipe",
                                   row["recipe"], "--seeds", str(args.seeds)], args.limit)
            if trial is None:
                row["failed"] = reason
            else:
                tests = trial["tests"]
                row.update(val=trial["val"], test=trial["test"], tests=tests,
                           std=statistics.stdev(tests) if len(tests) > 1 else None)
            result["rows"].append(row)
            shown = f"{100 * row['test']:.1f}" if "test" in row else row["failed"]
            print(f"{model} {data}: {shown} (published {row['published']})", flush=True)
            write(os.path.splitext(args.out)[0] + ".json", json.dumps(result, indent=1) + "\n")
            write(args.out, markdown(result))
    if not any("test" in row for row in result["rows"]):
        raise SystemExit("no model has a result")


if __name__ == "__main__":
    main()
