"""The program from the outside: results, exit codes, files, and what users do wrong."""
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from _common import GNAS, ROOT, SMALL, T4, expect, folder_of, gnas, gnas_json, run_checks, trials_of

FAST = ["--hidden", "16", "--epochs", "5"]


def check_counts(work):
    """check prints the embedded data set's counts"""
    j = gnas_json("check", SMALL)
    counts = json.loads((ROOT / "examples/data/debian-bookworm/counts.json").read_text())
    text = json.dumps(counts)
    expect(str(j["nodes"]) in text and j["nodes"] == 2815, j["nodes"])
    expect(j["edge_rows"] == 19720 and j["undirected_edges"] == 19710, j)
    expect(j["features"] == 547 and j["feature_nonzeros"] == 13008 and j["classes"] == 12)
    expect(sum(j["class_counts"]) + j["unlabelled"] == j["nodes"])
    expect(j["splits"]["fixed"] == {"train": 563, "val": 563, "test": 1689})
    for key in ("format", "distinct_directed", "self_loop_rows", "duplicate_rows", "isolated", "max_degree", "checksum"):
        expect(key in j, key)


def train_json(work):
    """train gives each seed and mean and standard deviation, the same on a rerun and at two threads"""
    command = ["train", SMALL, "--space", "nas-bench-graph", "--arch", "0,0,1,2:gat,gcn,gin,cheb", "--seeds", "3", *FAST]
    a, b = gnas_json(*command), gnas_json(*command, "--threads", "2")
    expect(len(a["seeds"]) == 3 and a["n"] == 3)
    for s, t in zip(a["seeds"], b["seeds"]):
        for key in ("seed", "val", "test", "parameters", "epochs", "status", "best_epoch"):
            expect(s[key] == t[key], f"{key}: {s} {t}")
    mean = sum(s["test"] for s in a["seeds"]) / 3
    expect(abs(a["test"]["mean"] - mean) < 1e-12 and a["test"]["std"] >= 0)
    dry = gnas_json("train", SMALL, "--arch", "0,0,1,2:gat,gcn,gin,cheb", *FAST, "--dry-run")
    expect(dry["parameters"] == a["parameters"] and dry["memory_bytes"] == a["memory_bytes"], "dry run differs")
    expect(dry["training"]["epochs"] == 5)


def resume_training(work):
    """a training stopped after 5 epochs and resumed has the curve of one that ran through (T04)"""
    common = [SMALL, "--arch", "0,1,2,3:gat,gcn,sage,cheb", "--hidden", "16", "--epochs", "10", "--optimizer", "adam"]
    gnas("train", *common, "--out", work / "whole")
    gnas("train", *common, "--out", work / "half", "--stop-after", "5", code=5)
    gnas("resume", work / "half")
    expect((work / "whole/seed-0.csv").read_text() == (work / "half/seed-0.csv").read_text(), "curves differ")


def search_outputs(work):
    """search writes plain lines to files (U01), and a best model that export and train --from give back (S13, S20)"""
    out = work / "search"
    done = gnas("search", SMALL, "--trials", "6", "--seed", "1", "--seeds", "2", "--out", out, *FAST)
    expect("rank" in done.stdout and "\r" not in done.stderr and "\x1b" not in done.stderr + done.stdout, "control characters")
    rows = list(csv.DictReader((out / "trials.csv").open()))
    expect(len(rows) == 12, len(rows))
    report = gnas_json("report", out)
    expect(report["finished"] == 6 and report["running"] == 0)
    best = report["trials"][0]
    expect(all(best["val"] >= t["val"] for t in report["trials"] if t["val"] is not None))
    top = gnas_json("report", out, "--top", "2")
    expect(len(top["trials"]) == 2)
    gnas("export", out, "--out", work / "model")
    again = gnas_json("train", SMALL, "--from", work / "model")
    seeds = sorted(best["seeds"], key=lambda s: -s["val"])
    expect(again["val"] == seeds[0]["val"] and again["test"] == seeds[0]["test"], f"{again} {seeds[0]}")
    config = json.loads((out / "config.json").read_text())
    expect(config["seed"] == 1 and config["data_checksum"] and config["version"])
    # More trials continue; finished ones are not redone.
    more = gnas_json("resume", out, "--trials", "8")
    expect(more["trained"] == 2 and more["reused"] == 6, more["trained"])


def same_set_at_any_threads(work):
    """one and two candidates at once give the same set of results (S07)"""
    tables = []
    for threads in (1, 2):
        j = gnas_json("search", SMALL, "--trials", "10", "--seed", "3", "--threads", threads, "--out", work / f"t{threads}", *FAST)
        tables.append({t["number"]: (t["arch"], t["val"], t["test"]) for t in j["trials"]})
    expect(tables[0] == tables[1])


def two_processes_share(work):
    """two processes that are given one folder divide the trials between them"""
    out = work / "shared"
    command = [GNAS, "search", SMALL, "--trials", "12", "--seed", "3", "--threads", "1", "--out", str(out), "--json", *FAST]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    while not (out / "trials.db").exists() and first.poll() is None:
        time.sleep(0.01)
    second = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    a, b = json.loads(first.communicate(timeout=300)[0]), second.communicate(timeout=300)
    b = json.loads(b[0])
    expect(a["trained"] + b["trained"] == 12, f"{a['trained']} + {b['trained']}")
    alone = gnas_json("search", SMALL, "--trials", "12", "--seed", "3", "--out", work / "alone", *FAST)
    table = lambda j: {t["number"]: (t["arch"], t["val"]) for t in j["trials"]}
    expect(table(a) == table(alone) and table(b) == table(alone), "tables differ")


def exhausted_space(work):
    """a space of three architectures ends by itself (S01), duplicates cost nothing"""
    j = gnas_json("search", SMALL, "--space", "reference", "--trials", "50", "--epochs", "3", "--out", work / "three")
    expect(len(j["trials"]) == 3 and j["ended"] == "space exhausted", j["ended"])


def diverging_candidates(work):
    """a learning rate of 1e30 gives failed trials with reasons and exit 4, not a crash (S05)"""
    done = gnas("search", SMALL, "--trials", "3", "--optimizer", "sgd", "--lr", "1e30", "--epochs", "12", "--hidden", "16",
                "--out", work / "nan", "--json", code=None)
    j = json.loads(done.stdout)
    failed = [t for t in j["trials"] if t["status"] == "diverged"]
    expect(failed and all("loss" in t["reason"] for t in failed), j["trials"])
    expect(done.returncode == (4 if len(failed) == 3 else 0), done.returncode)


def interrupt(work):
    """one Ctrl-C ends with exit 5, what is finished stays, resume gives the uninterrupted table"""
    out = work / "interrupted"
    options = ["--trials", "12", "--seed", "5", "--hidden", "32", "--epochs", "150", "--threads", "2"]
    run = subprocess.Popen([GNAS, "search", SMALL, *options, "--out", str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    numbers = lambda trials: {t["number"] for t in trials}
    # Signalled at its first result: the machine's speed does not decide what is tested.
    while run.poll() is None:
        if (out / "trials.db").exists() and (out / "config.json").exists() and trials_of(out):
            run.send_signal(signal.SIGINT)
            break
        time.sleep(0.02)
    run.communicate(timeout=60)
    expect(run.returncode == 5, run.returncode)
    stayed = numbers(trials_of(out))
    expect(0 < len(stayed) < 12, stayed)
    j = gnas_json("resume", out)
    expect(stayed <= numbers(j["trials"]), "a finished trial was lost")
    whole = gnas_json("search", SMALL, *options, "--out", work / "uninterrupted")
    table = lambda r: {t["number"]: (t["arch"], t["val"], t["test"]) for t in r["trials"]}
    expect(table(j) == table(whole), "tables differ")


def limits(work):
    """parameter and time limits hold (S08)"""
    j = gnas_json("search", SMALL, "--trials", "5", "--max-parameters", "30000", "--out", work / "limit", *FAST)
    expect(j["trained"] == 5 and all(t["parameters"] <= 30000 for t in j["trials"] if t["status"] == "completed"))
    begin = time.monotonic()
    j = gnas_json("search", SMALL, "--trials", "100000", "--time", "2s", "--out", work / "time", *FAST)
    expect(time.monotonic() - begin < 15 and j["ended"] == "time limit", j["ended"])


def config_file(work):
    """a config file sets options and the command line wins over it"""
    file = work / "run.ini"
    file.write_text("epochs = 4\nhidden = 16\nseeds = 2\n")
    j = gnas_json("train", SMALL, "--arch", "hash:0", "--config", file, "--seeds", "1", "--dry-run")
    expect(j["training"]["epochs"] == 4 and j["seeds"] == 1, j)


def t4_works(work):
    """a folder of four small text files is enough, splits included"""
    folder = folder_of(T4)
    j = gnas_json("check", folder)
    expect(j["nodes"] == 4 and j["undirected_edges"] == 3 and j["classes"] == 2)
    r = gnas_json("train", folder, "--arch", "0,0,1,2:gat,gcn,gin,cheb", *FAST)
    expect(r["status"] == "completed")


def deterministic(work):
    """twenty runs of one training give one curve (O08)"""
    folder = folder_of(T4)
    curves = set()
    for k in range(20):
        gnas("train", folder, "--arch", "0,1,2,3:gat,gcn,sage,gin", "--hidden", "16", "--epochs", "50", "--out", work / f"d{k}")
        curves.add((work / f"d{k}/seed-0.csv").read_text())
    expect(len(curves) == 1, len(curves))


def bad_input(work):
    """bad input ends in one line that names file, place, value and way out"""
    def bad(arguments, code, *texts):
        done = gnas(*arguments, code=code)
        lines = done.stderr.strip().split("\n")
        expect(len(lines) == 1 and lines[0].startswith("gnas: "), f"{arguments}: {done.stderr}")
        for text in texts:
            expect(text in lines[0], f"'{text}' is not in: {lines[0]}")
        expect(done.stdout == "", done.stdout)

    t4 = folder_of(T4)
    train = ["--arch", "0,0,1,2:gat,gcn,gin,cheb", *FAST]
    bad(["check", "/nonexistent"], 3, "/nonexistent", "no such file")
    bad(["check", t4, "--format", "tu"], 2, "'tu'", "one of")
    bad(["check", folder_of(T4, **{"edges.txt": "0 1\n1 x\n"})], 3, "edges.txt:2", "'x'")
    bad(["check", folder_of({"edges.txt": "3 4\n7 3\n9 12\n", "features.csv": "1,0\n" * 5})], 3, "12", "--relabel")
    bad(["check", folder_of({"edges.txt": "4000000000 1\n"})], 3, "4000000000", "--relabel")
    bad(["train", folder_of(T4, **{"splits.csv": "node,s\n0,1\n1,1\n2,0\n3,3\n"}), *train], 2, "validation")
    bad(["train", t4, "--arch", "0,0,1,2:gat,gcn,gin,gru", *FAST], 2, "gru", "one of")
    bad(["train", t4, "--arch", "0,0,9,2:gat,gcn,gin,gat", *FAST], 2, "link 2")
    bad(["train", t4, *train, "--lr", "0"], 2, "--lr is 0")
    bad(["train", t4, *train, "--hidden", "18"], 2, "multiple of 4")
    bad(["train", t4, *train, "--split", "nope"], 2, "nope", "it has")
    bad(["train", t4, *train, "--split", "random:5,5"], 2, "class 0")
    bad(["train", t4, *train, "--recipe", "coral"], 2, "coral", "cora")
    bad(["train", t4, *FAST], 2, "--arch")
    bad(["search", SMALL, "--strategy", "magic"], 2, "magic", "random")
    bad(["search", SMALL, "--space", "mine"], 2, "mine", "nas-bench-graph")
    bad(["search", SMALL, "--trials", "0"], 2, "trials")
    bad(["search", SMALL, "--time", "soon"], 2, "soon")
    bad(["search", SMALL, "--nonsense"], 2, "--nonsense")
    bad(["resume", t4], 3, "config.json")
    bad(["report", t4], 3, "trials.db")
    bad(["train", SMALL, "--from", t4], 3, "architecture.json")
    bad([], 2, "subcommand")


def moved(work):
    """a run is continued from another working directory, and after its data was moved"""
    home = work / "home"
    home.mkdir()
    shutil.copy(SMALL, home / "a.npz")
    gnas("search", "a.npz", "--trials", "1", *FAST, "--out", "r", cwd=home)
    gnas("train", "a.npz", "--arch", "hash:0", *FAST, "--stop-after", "2", "--out", "t", cwd=home, code=5)
    expect(gnas_json("resume", home / "r", "--trials", "2")["trained"] == 1)
    (home / "a.npz").rename(home / "b.npz")
    for command in (["export", home / "r", "--out", home / "m"], ["resume", home / "r"], ["resume", home / "t"]):
        done = gnas(*command, code=3)
        expect("a.npz" in done.stderr and "--data" in done.stderr, done.stderr)
        done = gnas(*command, "--data", folder_of(T4), code=3)
        expect("checksum" in done.stderr, done.stderr)
        gnas(*command, "--data", home / "b.npz")
    expect((home / "m/weights.safetensors").exists())
    gnas("resume", home / "r")  # where it is now was noted


def full_disk(work):
    """results that cannot be written are an error"""
    if not os.path.exists("/dev/full"):
        return "no /dev/full"
    for command in (["check", SMALL], ["check", SMALL, "--json"], ["train", SMALL, "--arch", "hash:0", *FAST], ["doctor"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([GNAS, *map(str, command)], stdout=full, stderr=subprocess.PIPE, text=True)
        expect(done.returncode == 1 and "standard output" in done.stderr, f"{command}: {done.returncode} {done.stderr}")


def bad_settings(work):
    """a setting that cannot work, or means nothing, is refused before a folder is made"""
    def refused(command, *texts):
        out = work / "never"
        done = gnas(*command, "--out", out, code=2)
        lines = done.stderr.strip().split("\n")
        expect(len(lines) == 1 and all(text in lines[0] for text in texts), f"{command}: {done.stderr}")
        expect(not out.exists(), f"{command}: a folder was made")

    for option, value, rule in (
            ("--lr", "nan", "above 0"), ("--lr", "-1", "above 0"), ("--lr", "1e400", "out of range"), ("--lr", "1e-2x", "a number"),
            ("--weight-decay", "-1", "at least 0"), ("--dropout", "1", "[0, 1)"), ("--epochs", "0", "at least 1"),
            ("--epochs", "2.5", "whole number"), ("--epochs", "99999999999999", "out of range"), ("--epochs", "", "whole number"),
            ("--patience", "-1", "at least 0"), ("--seed", "-1", "at least 0"), ("--seed", "18446744073709551616", "out of range"),
            ("--seeds", "0", "at least 1"), ("--hidden", "1000000000", "1..1048576"), ("--pre", "1000", "0..100"),
            ("--threads", "100000", "0..1024")):
        refused(["train", SMALL, "--arch", "hash:0", option, value], option, value, rule)
        refused(["search", SMALL, option, value], option, value, rule)
    for option, value, rule in (("--time", "0", "above 0"), ("--trial-time", "nan", "above 0"), ("--max-parameters", "0", "at least 1"),
                                ("--sample", "21", "1..20"), ("--trials", "-3", "at least 1")):
        refused(["search", SMALL, option, value], option, value, rule)
    refused(["search", SMALL, "--momentum", "0.9"], "--momentum", "--optimizer sgd")
    refused(["search", SMALL, "--strategy", "random", "--population", "9"], "--population", "random")
    refused(["search", SMALL, "--patience", "3", "--no-early-stop"], "--patience", "--no-early-stop")
    (work / "list").write_text("0,0,1,2:gat,gcn,gin,cheb\n")
    refused(["search", SMALL, "--arch-file", work / "list", "--trials", "3"], "--trials", "--arch-file")
    refused(["train", SMALL, "--arch", "hash:0", "--stop-after", "0"], "--stop-after", "at least 1")
    gnas("train", SMALL, "--arch", "hash:0", *FAST, "--out", work / "bad-train")
    gnas("search", SMALL, "--trials", "2", *FAST, "--out", work / "bad-search")
    for command, text in ((["resume", work / "bad-train", "--trials", "3"], "--trials"), (["resume", work / "bad-train", "--failed", "restart"], "--failed"),
                          (["resume", work / "bad-search", "--epochs", "9"], "--epochs"), (["resume", work / "bad-search", "--trials", "0"], "--trials"),
                          (["train", SMALL, "--from", work / "bad-train/best", "--lr", "1"], "--from")):
        done = gnas(*command, code=2)
        expect(text in done.stderr, f"{command}: {done.stderr}")
    # One folder holds one search.
    for other in (["--lr", "0.02"], ["--selection", "loss"], ["--sample", "3"]):
        done = gnas("search", SMALL, "--trials", "3", *FAST, *other, "--out", work / "bad-search", code=2)
        expect(other[0][2:] in done.stderr and "absent" in done.stderr, done.stderr)
    expect(len(trials_of(work / "bad-search")) == 2, "trials were added")


def out_is_not_overwritten(work):
    """a folder that holds a run is not overwritten"""
    gnas("train", SMALL, "--arch", "hash:0", "--hidden", "8", "--epochs", "2", "--out", work / "once")
    done = gnas("train", SMALL, "--arch", "hash:0", "--hidden", "8", "--epochs", "2", "--out", work / "once", code=2)
    expect("gnas resume" in done.stderr, done.stderr)


def helpers(work):
    """doctor, version and help answer"""
    expect("cpu" in json.dumps(gnas_json("doctor")))
    expect(gnas("--version").stdout.strip() == "0.1.0")
    expect("--trials" in gnas("search", "--help").stdout)


def real_data(work):
    """real sets load with their published counts"""
    data = os.environ.get("GNAS_TEST_DATA", "")
    if not os.path.isdir(data):
        return "no real data"
    for name, part, form in (("cora", "raw", "planetoid"), ("citeseer", "raw", "planetoid"), ("citeseer_linqs", "raw", "linqs"),
                             ("film", "raw", "geom-gcn"), ("cora_ml", "raw", "npz"), ("pubmed", "", "folder")):
        meta = json.load(open(f"{data}/{name}/meta.json"))
        j = gnas_json("check", f"{data}/{name}/{part}")
        expect(j["format"] == form, f"{name}: {j['format']}")
        expect(j["nodes"] == meta["nodes"] and j["edge_rows"] == meta["edges_stored"] and j["feature_nonzeros"] == meta["feature_nnz"], name)
        expect(j["class_counts"] == meta["class_counts"], name)
    j = gnas_json("train", f"{data}/cora", "--space", "nas-bench-graph", "--arch", "0,0,1,2:gat,gcn,gin,cheb", "--recipe", "cora", "--dry-run")
    expect(j["training"] == {**j["training"], "optimizer": "sgd", "lr": 0.1, "epochs": 400, "split": "public"} or j["training"]["split"] == "", j)


if __name__ == "__main__":
    sys.exit(run_checks([check_counts, train_json, resume_training, search_outputs, same_set_at_any_threads, two_processes_share,
                         exhausted_space, diverging_candidates, interrupt, limits, config_file, t4_works, deterministic, bad_input, moved, full_disk, bad_settings,
                         out_is_not_overwritten, helpers, real_data]))
