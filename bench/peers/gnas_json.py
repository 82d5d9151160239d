"""Reads what `gnas train --json` and `gnas search --json` print, whatever surrounds the trials."""

import json
import os
import subprocess


def json_values(text):
    """Every JSON value of a text: one document, or one value a line."""
    try:
        return [json.loads(text)]
    except ValueError:
        values = []
        for line in text.splitlines():
            try:
                values.append(json.loads(line))
            except ValueError:
                pass
        return values


def number(value):
    """A plain number, or the `mean` of an object; None for anything else."""
    if isinstance(value, dict):
        value = value.get("mean")
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def trials(text):
    """The outermost objects that have `val` and `test`, in order, each as the dictionary it is."""
    found = []

    def walk(value):
        if isinstance(value, dict):
            if number(value.get("val")) is not None and number(value.get("test")) is not None:
                found.append(value)
                return
            value = list(value.values())
        if isinstance(value, list):
            for inner in value:
                walk(inner)

    for value in json_values(text):
        walk(value)
    return found


def train(gnas, data, options, limit_s):
    """Runs `gnas train` once: ({val, test, tests}, None) or (None, reason)."""
    command = [gnas, "train", data, *options, "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s)
    except OSError as error:
        raise SystemExit(f"{gnas}: {error.strerror}; build it, or give its path with --gnas")
    except subprocess.TimeoutExpired:
        return None, f"no result in {limit_s:g} s"
    found = trials(done.stdout)
    if done.returncode != 0 or not found:
        last = (done.stderr.strip().splitlines() or ["no trial in its output"])[-1]
        return None, f"status {done.returncode}: {last[:200]}"
    trial = found[-1]
    status = trial.get("status", "completed")
    if status != "completed":
        return None, f"{status}: {trial.get('reason', '')}"[:200]
    seeds = trial.get("seeds")
    tests = [number(s.get("test")) for s in seeds if isinstance(s, dict)] \
        if isinstance(seeds, list) else []
    if not tests and len(found) > 1:  # one object a seed, without a common one
        tests = [number(t["test"]) for t in found]
        vals = [number(t["val"]) for t in found]
        return {"val": sum(vals) / len(vals), "test": sum(tests) / len(tests), "tests": tests}, None
    return {"val": number(trial["val"]), "test": number(trial["test"]), "tests": tests}, None


def write(path, text):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
