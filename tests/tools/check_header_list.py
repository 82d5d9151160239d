#!/usr/bin/env python3
"""include/meson.build must name every public header, and nothing else."""

import pathlib
import subprocess
import sys


def main():
    script = pathlib.Path(__file__).resolve().with_name("list_headers.py")
    done = subprocess.run([sys.executable, str(script), "--check"], check=False)
    print("ok header list" if done.returncode == 0 else "not ok header list", flush=True)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
