"""Epochs per second against PyTorch Geometric: rounds interleaved, medians, every cell printed.

Usage: python bench/peers/run.py --data DATA --debian NPZ --python PYTHON_WITH_PYG
       [--gnas build/bench/epoch_server] [--rounds 5] [--threads 2]

A cell is a data set and an architecture. All contenders prepare it (load, build, two epochs of
warm-up), then take turns: round r runs the same number of epochs on each, one after the other, in an
order that rotates with r. Cells are written as they come; a second call skips those already there.
"""

import argparse
import json
import os
import statistics
import sys

from protocol import Contender, geometric_mean, machine, read_list, versions

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def run_cell(contenders, data, arch, args):
    cell = {"data": data, "arch": arch, "contenders": {}}
    alive = []
    for c in contenders:
        ok, answer = c.ask(f"prepare {data} {arch} {c.mode}", args.prepare_limit)
        cell["contenders"][c.name] = entry = {"rounds": []}
        if not ok:
            entry["failed"] = answer
            c.stop()  # a process that failed may hold memory that slows the others
            continue
        entry["parameters"] = int(answer[0])
        alive.append(c)
    # one pilot epoch each fixes how many epochs make a round long enough to time
    pilot = {}
    for c in list(alive):
        ok, answer = c.ask("run 1", args.run_limit)
        if ok:
            pilot[c.name] = max(answer[0], 1e-6)
        else:
            cell["contenders"][c.name]["failed"] = answer
            alive.remove(c)
    if not alive:
        return cell
    wanted = args.round_seconds / min(pilot.values())
    allowed = args.round_limit / max(pilot.values())
    epochs = max(1, min(int(wanted) + 1, int(allowed), args.max_epochs))
    cell["epochs_per_round"] = epochs
    for r in range(args.rounds):
        for c in alive[r % len(alive):] + alive[:r % len(alive)]:
            entry = cell["contenders"][c.name]
            if "failed" in entry:
                continue
            ok, answer = c.ask(f"run {epochs}", args.run_limit)
            if not ok:
                entry["failed"] = answer
                continue
            entry["rounds"].append(answer[0] / epochs)
            entry["loss"], entry["val"], entry["test"] = answer[1:4]
    for entry in cell["contenders"].values():
        if entry["rounds"] and "failed" not in entry:
            middle = statistics.median(entry["rounds"])
            entry["ms_per_epoch"] = 1e3 * middle
            entry["spread"] = (max(entry["rounds"]) - min(entry["rounds"])) / middle
            entry["epochs_trained"] = 3 + epochs * args.rounds
    return cell


def ms(cell, name):
    return cell["contenders"].get(name, {}).get("ms_per_epoch")


def speedups(cells, name):
    """gnas against one contender (or `best`, the fastest of the peers in each cell)."""
    out = []
    for cell in cells:
        mine = ms(cell, "gnas")
        peers = [ms(cell, n) for n in cell["contenders"] if n != "gnas" and ms(cell, n)]
        theirs = min(peers) if name == "best" and peers else ms(cell, name)
        if mine and theirs:
            out.append((theirs / mine, cell))
    return out


def markdown(result):
    names = result["contenders"]
    peers = [n for n in names if n != "gnas"]
    cells = result["cells"]
    m = result["machine"]
    lines = ["# Epochs against PyTorch Geometric", "",
             f"{m['cpu']}, {result['threads']} threads each, {result['rounds']} interleaved rounds, "
             f"median; {m['date']}; " +
             ", ".join(f"{k} {v}" for k, v in result["versions"].items()) + ".", "",
             "An epoch is one full-batch training step and one evaluation pass. Milliseconds an epoch, "
             "then spread ((max - min) / median); last: the fastest peer's time over ours.", ""]
    for data in dict.fromkeys(c["data"] for c in cells):
        lines += [f"## {data}", "", "| architecture | " + " | ".join(names) + " | fastest peer / gnas |",
                  "|---" * (len(names) + 2) + "|"]
        for cell in (c for c in cells if c["data"] == data):
            row = [f"`{cell['arch']}`"]
            for n in names:
                entry = cell["contenders"].get(n, {"failed": "not run"})
                row.append(f"{entry['ms_per_epoch']:.2f} ({100 * entry['spread']:.0f}%)"
                           if "ms_per_epoch" in entry else "failed")
            s = speedups([cell], "best")
            row.append(f"{s[0][0]:.2f}x" if s else "")
            lines.append("| " + " | ".join(row) + " |")
        lines += ["", "Loss of the last training step, validation and test accuracy after the same "
                  "number of epochs (each contender draws its own weights and dropout):", "",
                  "| architecture | epochs | " + " | ".join(names) + " |",
                  "|---" * (len(names) + 2) + "|"]
        for cell in (c for c in cells if c["data"] == data):
            entries = [cell["contenders"].get(n, {}) for n in names]
            epochs = max((e.get("epochs_trained", 0) for e in entries), default=0)
            row = [f"{e['loss']:.3f} / {100 * e['val']:.1f} / {100 * e['test']:.1f}"
                   if "ms_per_epoch" in e else "" for e in entries]
            lines.append(f"| `{cell['arch']}` | {epochs} | " + " | ".join(row) + " |")
        lines.append("")
    lines += ["## Summary", "", "| against | cells | geometric mean | worst | best |", "|---|---|---|---|---|"]
    for name in peers + ["best"]:
        s = speedups(cells, name)
        if not s:
            continue
        low, high = min(s, key=lambda p: p[0]), max(s, key=lambda p: p[0])
        label = "the fastest peer of each cell" if name == "best" else name
        lines.append(f"| {label} | {len(s)} | {geometric_mean([p[0] for p in s]):.2f}x | "
                     f"{low[0]:.2f}x ({low[1]['data']}, `{low[1]['arch']}`) | "
                     f"{high[0]:.2f}x ({high[1]['data']}, `{high[1]['arch']}`) |")
    failures = [(c["data"], c["arch"], n, e["failed"]) for c in cells
                for n, e in c["contenders"].items() if "failed" in e]
    if failures:
        lines += ["", "## Failures", ""]
        lines += [f"- {d}, `{a}`, {n}: {why}" for d, a, n, why in failures]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder with cora/, citeseer/, pubmed/")
    parser.add_argument("--debian", default=os.path.join(
        ROOT, "examples", "data", "debian-bookworm", "debian-bookworm.npz"))
    parser.add_argument("--gnas", default=os.path.join(ROOT, "build", "bench", "epoch_server"))
    parser.add_argument("--python", default=sys.executable, help="interpreter that has PyG")
    parser.add_argument("--datasets", default="cora,citeseer,pubmed,debian-bookworm")
    parser.add_argument("--architectures", default=os.path.join(HERE, "architectures.txt"))
    parser.add_argument("--contenders", default="gnas,pyg-eager,pyg-sparse,pyg-compiled")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--round-seconds", type=float, default=1.0, help="aim, fastest contender")
    parser.add_argument("--round-limit", type=float, default=20.0, help="aim, slowest contender")
    parser.add_argument("--max-epochs", type=int, default=200, help="in a round")
    parser.add_argument("--prepare-limit", type=float, default=600.0)
    parser.add_argument("--run-limit", type=float, default=300.0)
    parser.add_argument("--memory-gib", type=float, default=12.0, help="of each PyG process")
    parser.add_argument("--fresh", action="store_true", help="forget earlier cells")
    parser.add_argument("--out", default=os.path.join(ROOT, "bench", "results", "peers.json"))
    args = parser.parse_args()

    shared = ["--data", args.data, "--debian", args.debian, "--threads", str(args.threads)]
    threads = {"OMP_NUM_THREADS": str(args.threads), "MKL_NUM_THREADS": str(args.threads)}
    contenders = []
    for name in args.contenders.split(","):
        if name == "gnas":
            if not os.access(args.gnas, os.X_OK):
                parser.error(f"{args.gnas}: not a program; build it, or give its path with --gnas")
            contenders.append(Contender(name, "gnas", [args.gnas] + shared, threads))
        elif name in ("pyg-eager", "pyg-sparse", "pyg-compiled"):
            command = [args.python, os.path.join(HERE, "pyg_epochs.py")] + shared
            command += ["--memory-gib", str(args.memory_gib)]
            contenders.append(Contender(name, name[4:], command, threads))
        else:
            parser.error(f"unknown contender {name!r}")

    result = {"cells": []}
    if os.path.exists(args.out) and not args.fresh:
        with open(args.out, encoding="utf-8") as f:
            result = json.load(f)
        before = (result.get("threads"), result.get("rounds"), result.get("contenders"))
        now = (args.threads, args.rounds, [c.name for c in contenders])
        if before != now:
            parser.error(f"{args.out} was made with threads, rounds, contenders {before}, "
                         f"not {now}: give --fresh or another --out")
    result.update(machine=machine(), versions=versions(args.python), threads=args.threads,
                  rounds=args.rounds, contenders=[c.name for c in contenders])
    done = {(c["data"], c["arch"]) for c in result["cells"]}
    os.makedirs(os.path.dirname(os.path.abspath(args.out)), exist_ok=True)

    def save():
        with open(args.out, "w", encoding="utf-8") as f:
            json.dump(result, f, indent=1)
        with open(os.path.splitext(args.out)[0] + ".md", "w", encoding="utf-8") as f:
            f.write(markdown(result))

    try:
        for data in args.datasets.split(","):
            for arch in read_list(args.architectures):
                if (data, arch) in done:
                    continue
                cell = run_cell(contenders, data, arch, args)
                result["cells"].append(cell)
                save()
                shown = [f"{n} " + (f"{e['ms_per_epoch']:.2f} ms" if "ms_per_epoch" in e
                                    else f"failed ({e.get('failed', '')[:60]})")
                         for n, e in cell["contenders"].items()]
                print(f"{data} {arch}: " + ", ".join(shown), flush=True)
            for c in contenders:
                c.stop()  # the next data set starts from an empty process
    finally:
        for c in contenders:
            c.stop()
    save()


if __name__ == "__main__":
    main()
