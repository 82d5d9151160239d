"""SIGKILL at random times, resume, and the final table of an uninterrupted run. GNAS_KILLS sets how often (default 10)."""
import json
import os
import random
import subprocess
import sys
import time

from _common import GNAS, SMALL, expect, gnas_json, run_checks, trials_of


def killed(work):
    """a search that is killed again and again ends with the table of one that was not"""
    kills = int(os.environ.get("GNAS_KILLS", "10"))
    options = ["--trials", str(kills), "--seed", "11", "--hidden", "32", "--epochs", "40", "--threads", "2"]
    whole = gnas_json("search", SMALL, *options, "--out", work / "whole")
    out = work / "killed"
    rng = random.Random(20240607)
    command = [GNAS, "search", SMALL, *options, "--out", str(out)]
    done, finished = 0, set()
    while done < kills:
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.02, 1.2 * max(0.3, whole["seconds"] / kills)))
        run.kill()
        run.wait()
        done += 1
        if (out / "trials.db").exists() and (out / "config.json").exists():
            command = [GNAS, "resume", str(out)]
            now = {(t["number"], t["val"], tuple(s["seconds"] for s in t["seeds"])) for t in trials_of(out)}
            expect(finished <= now, "a finished trial was lost or redone")
            finished = now
    j = gnas_json("resume", out)
    table = lambda r: {t["number"]: (t["arch"], t["val"], t["test"], t["status"]) for t in r["trials"]}
    expect(table(j) == table(whole), "tables differ")
    after = {(t["number"], t["val"], tuple(s["seconds"] for s in t["seeds"])) for t in j["trials"]}
    expect(finished <= after, "the last resume redid a finished trial")
    report = gnas_json("report", out)
    expect(report["running"] == 0 and report["waiting"] == 0, report)


if __name__ == "__main__":
    sys.exit(run_checks([killed]))
