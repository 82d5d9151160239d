"""What the checks that call a compiler by hand have in common."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def eigen_flags():
    """Eigen as a system folder, whose warnings are not ours."""
    done = subprocess.run(["pkg-config", "--cflags-only-I", "eigen3"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    folders = [word[2:] for word in done.stdout.split()] or ["/usr/include/eigen3"]
    return [word for folder in folders for word in ("-isystem", folder)]


INCLUDES = ["-I" + str(ROOT / "include"), *eigen_flags()]
