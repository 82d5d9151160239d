"""What the end-to-end checks share: running the program, and one TAP-like line a check."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GNAS = os.path.abspath(os.environ.get("GNAS_BIN", str(ROOT / "build/examples/gnas/gnas")))
SMALL = str(ROOT / "examples/data/debian-bookworm/debian-small.npz")

T4 = {
    "edges.txt": "0 1\n1 2\n2 3\n",
    "features.csv": "1,0\n0,1\n1,1\n0,0\n",
    "labels.csv": "0\n1\n0\n1\n",
    "splits.csv": "node,s\n0,1\n1,1\n2,2\n3,3\n",
}


def gnas(*arguments, code=0, env=None, cwd=None, timeout=600):
    """Runs the program; fails unless it ends with `code` (None: any)."""
    done = subprocess.run([GNAS, *map(str, arguments)], capture_output=True, text=True, env=env, cwd=cwd,
                          timeout=timeout)
    if code is not None and done.returncode != code:
        raise AssertionError(f"exit {done.returncode}, expected {code}: gnas {' '.join(map(str, arguments))}\n"
                             f"{done.stdout[-600:]}\n{done.stderr[-600:]}")
    return done


def gnas_json(*arguments, **options):
    return json.loads(gnas(*arguments, "--json", **options).stdout)


def trials_of(folder):
    """the trials that `gnas report` finds; none while the run's store is just being made"""
    done = gnas("report", folder, "--json", code=None)
    if done.returncode == 3 and "not a trial store" in done.stderr:
        return []
    expect(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)["trials"]


def folder_of(files, **changes):
    """A folder with these files (None: without)."""
    folder = Path(tempfile.mkdtemp(prefix="gnas-e2e-"))
    for name, text in {**files, **changes}.items():
        if text is not None:
            (folder / name).write_text(text)
    return folder


def expect(condition, message=""):
    if not condition:
        raise AssertionError(message)


def run_checks(checks):
    work = Path(tempfile.mkdtemp(prefix="gnas-e2e-"))
    failed = False
    for check in checks:
        try:
            reason = check(work)
            print(f"skip {check.__doc__}: {reason}" if reason else f"ok {check.__doc__}", flush=True)
        except Exception as error:  # noqa: BLE001 - every failure is a line
            failed = True
            print(f"not ok {check.__doc__}: {error}", flush=True)
            traceback.print_exc(file=sys.stderr)
    shutil.rmtree(work, ignore_errors=True)
    return 1 if failed else 0
