"""What the checks that call a compiler by hand have in common."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]

INCLUDES = ["-I" + str(ROOT / "include")]
