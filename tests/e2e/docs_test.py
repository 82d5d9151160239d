"""The shell commands of the pages, run as they stand."""
import re
import subprocess
import sys
from pathlib import Path

from _common import GNAS, ROOT, expect, run_checks


def first_search(work):
    """the commands of docs/first-search.md work in their order"""
    text = (ROOT / "docs/first-search.md").read_text()
    ran = 0
    (work / "examples").symlink_to(ROOT / "examples")
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        for line in block.strip().split("\n"):
            if not line.startswith("build/examples/gnas/gnas"):
                continue  # building was done
            command = line.replace("build/examples/gnas/gnas", GNAS, 1)
            done = subprocess.run(["sh", "-c", command], cwd=work, capture_output=True, text=True, timeout=600)
            expect(done.returncode == 0, f"{line}: {done.stderr[-400:]}")
            ran += 1
    expect(ran >= 7, ran)
    for name in ("config.json", "trials.db", "trials.csv", "best/architecture.json", "best/weights.safetensors", "best/metrics.json"):
        expect((work / "runs/first" / name).exists(), name)


if __name__ == "__main__":
    sys.exit(run_checks([first_search]))
