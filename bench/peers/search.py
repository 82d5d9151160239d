"""Whole search against PyTorch Geometric: the same candidates, recipe, epochs and cores.

Usage: python bench/peers/search.py --data DATA --gnas build/examples/gnas/gnas
       --python PYTHON_WITH_PYG [--rounds 3]

Rounds of (gnas, PyG) are interleaved; a round's time is that of the whole process, start to end.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from gnas_json import number, trials
from protocol import machine, read_list, versions

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def timed(command, limit, env):
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=env)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr[-2000:]}")
    found = {t["arch"]: (number(t["val"]), number(t["test"])) for t in trials(done.stdout)
             if isinstance(t.get("arch"), str)}
    return seconds, found


def markdown(r):
    m = r["machine"]
    mid = {n: statistics.median(v) for n, v in r["seconds"].items()}
    lines = ["# A whole search against PyTorch Geometric", "",
             f"{r['candidates']} NAS-Bench-Graph candidates on {r['dataset']}, {r['epochs']} epochs each, "
             f"two workers of one thread; {m['cpu']}; {m['date']}; " +
             ", ".join(f"{k} {v}" for k, v in r["versions"].items()) + f". PyG mode: {r['mode']}.", "",
             "| | seconds (median) | rounds |", "|---|---|---|"]
    for name, values in r["seconds"].items():
        lines.append(f"| {name} | {mid[name]:.1f} | " + ", ".join(f"{v:.1f}" for v in values) + " |")
    lines += ["", f"PyG over gnas: {mid['pyg'] / mid['gnas']:.2f}x. Mean test accuracy over the candidates "
              f"(test at the first best validation epoch): gnas {100 * r['mean_test']['gnas']:.2f}, "
              f"pyg {100 * r['mean_test']['pyg']:.2f}. Mean absolute difference a candidate: "
              f"{100 * r['mean_difference']:.2f} points (one seed each, so noise included).", "",
              "| architecture | gnas val / test | pyg val / test |", "|---|---|---|"]
    for arch, row in r["accuracy"].items():
        cells = [f"{100 * row[n][0]:.1f} / {100 * row[n][1]:.1f}" if n in row else "failed"
                 for n in ("gnas", "pyg")]
        lines.append(f"| `{arch}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder with cora/ ...")
    parser.add_argument("--dataset", default="cora")
    parser.add_argument("--gnas", default=os.path.join(ROOT, "build", "examples", "gnas", "gnas"))
    parser.add_argument("--gnas-options", default="--threads 2",
                        help="how to ask for two candidates at once, one thread each")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--arch-file", default=os.path.join(HERE, "candidates.txt"))
    parser.add_argument("--candidates", type=int, default=40, help="use the first so many")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mode", default="sparse", choices=("eager", "sparse", "compiled"))
    parser.add_argument("--limit", type=float, default=7200.0, help="seconds of one search")
    parser.add_argument("--out", default=os.path.join(ROOT, "bench", "results", "search.json"))
    args = parser.parse_args()

    archs = read_list(args.arch_file)[:args.candidates]
    result = {"machine": machine(), "versions": versions(args.python), "dataset": args.dataset,
              "candidates": len(archs), "epochs": args.epochs, "mode": args.mode,
              "seconds": {"gnas": [], "pyg": []}}
    env = dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as folder:
        listed = os.path.join(folder, "candidates.txt")
        with open(listed, "w", encoding="utf-8") as f:
            f.write("\n".join(archs) + "\n")
        commands = {
            "gnas": [args.gnas, "search", os.path.join(args.data, args.dataset), "--space",
                     "nas-bench-graph", "--recipe", args.dataset, "--arch-file", listed, "--epochs",
                     str(args.epochs), "--seeds", "1", "--json"] + args.gnas_options.split(),
            "pyg": [args.python, os.path.join(HERE, "search_pyg.py"), "--data", args.data, "--dataset",
                    args.dataset, "--arch-file", listed, "--epochs", str(args.epochs), "--workers",
                    "2", "--threads", "1", "--mode", args.mode]}
        seen = {}
        for r in range(args.rounds):
            for name in ("gnas", "pyg") if r % 2 == 0 else ("pyg", "gnas"):
                out = ["--out", os.path.join(folder, f"run-{r}")] if name == "gnas" else []
                seconds, seen[name] = timed(commands[name] + out, args.limit, env)
                result["seconds"][name].append(seconds)
                print(f"round {r + 1}: {name} {seconds:.1f} s", flush=True)
    result["accuracy"] = {a: {n: seen[n][a] for n in seen if a in seen[n]} for a in archs}
    both = [row for row in result["accuracy"].values() if len(row) == 2]
    if not both:
        raise SystemExit("no candidate has a result on both sides: compare the architectures' text forms")
    result["mean_test"] = {n: statistics.fmean(row[n][1] for row in both) for n in ("gnas", "pyg")}
    result["mean_difference"] = statistics.fmean(abs(row["gnas"][1] - row["pyg"][1]) for row in both)
    os.makedirs(os.path.dirname(os.path.abspath(args.out)), exist_ok=True)
    with open(args.out, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
    text = markdown(result)
    with open(os.path.splitext(args.out)[0] + ".md", "w", encoding="utf-8") as f:
        f.write(text)
    print(text)


if __name__ == "__main__":
    main()
