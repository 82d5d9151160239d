#!/usr/bin/env python3
"""Installs into a folder of its own and builds consumers: pkg-config, CMake, Meson subproject.

Each consumer is built twice over: one program of the core tier, one of the tools tier. CMake must also
refuse an unknown component and another minor version with a sentence of ours.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from compile_flags import ROOT
from list_headers import headers

SOURCES = ROOT / "tests" / "install"
# What a subproject must not look for unless it is asked to.
NOT_PROBED = ("libzip", "nlohmann_json", "sqlite3", "catch2", "nvcc", "nccl", "metis", "MPI", "CLI")

# Ninja is here because Meson needs it; a bare machine has no make.
CMAKE = ("cmake", "-G", "Ninja")


class Failed(Exception):
    """One consumer did not build, run or fail as it should."""


def run(command, cwd=ROOT, environment=None, wanted=0):
    """The output of a command; Failed when its exit status is not `wanted` (None: any failure)."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    good = done.returncode == wanted if wanted is not None else done.returncode != 0
    if not good:
        shown = " ".join(str(word) for word in command)
        raise Failed(f"`{shown}` ended with {done.returncode}\n{done.stdout}")
    return done.stdout


def expect(condition, text):
    if not condition:
        raise Failed(text)


def install(work):
    """Installs headers and packages only; returns the prefix."""
    build, prefix = work / "build", work / "prefix"
    run(["meson", "setup", build, f"--prefix={prefix}", "-Dtests=disabled", "-Dexamples=false",
         "-Dcuda=disabled", "-Dmpi=disabled", "-Dnccl=disabled", "-Dmetis=disabled"])
    run(["meson", "install", "-C", build])
    for name in headers():
        expect((prefix / "include" / name).is_file(), f"{name} was not installed")
    found = sorted(str(p.relative_to(prefix / "include")) for p in (prefix / "include").rglob("*.hpp"))
    expect(set(found) <= set(headers()), "headers were installed that the list does not name")
    return prefix


def with_pkg_config(prefix, work, tiers):
    environment = dict(os.environ, PKG_CONFIG_PATH=str(prefix / "share" / "pkgconfig"))
    for tier in tiers:
        package = "gnas" if tier == "core" else "gnas-tools"
        flags = run(["pkg-config", "--cflags", "--libs", package], environment=environment).split()
        program = work / f"pkg-config-{tier}"
        run(["g++", "-std=c++20", SOURCES / "source" / f"{tier}.cpp", "-o", program, *flags])
        run([program])
    version = run(["pkg-config", "--modversion", "gnas"], environment=environment).strip()
    project = run(["meson", "introspect", "--projectinfo", ROOT / "meson.build"])
    expect(f'"version": "{version}"' in project, f"gnas.pc says version {version}")


def with_cmake(prefix, work, tiers):
    build = work / "cmake"
    run([*CMAKE, "-S", SOURCES / "cmake", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
         f"-DWITH_TOOLS={'ON' if 'tools' in tiers else 'OFF'}"])
    run(["cmake", "--build", build])
    for tier in tiers:
        run([build / tier])


def cmake_refuses(prefix, work, case, text):
    out = run([*CMAKE, "-S", SOURCES / case, "-B", work / case, f"-DCMAKE_PREFIX_PATH={prefix}"],
              wanted=None)
    # CMake wraps long lines.
    expect(text in " ".join(out.split()), f"the message lacks '{text}':\n{out}")


def as_subproject(work, tiers):
    project = work / "meson"
    shutil.copytree(SOURCES / "meson", project)
    for tier in tiers:
        shutil.copy(SOURCES / "source" / f"{tier}.cpp", project)
    (project / "subprojects").mkdir()
    (project / "subprojects" / "gnas").symlink_to(ROOT)
    out = run(["meson", "setup", project / "plain", project], cwd=project)
    looked = [name for name in NOT_PROBED if name in out]
    expect(not looked, f"as a subproject, gnas looked for {', '.join(looked)}:\n{out}")
    run(["ninja", "-C", project / "plain"])
    run([project / "plain" / "core"])
    if "tools" in tiers:
        run(["meson", "setup", project / "full", project, "-Dwith_tools=true"], cwd=project)
        run(["ninja", "-C", project / "full"])
        run([project / "full" / "tools"])


def main():
    tiers = ["core"]
    if (ROOT / "include" / "gnas" / "gnas.hpp").exists():
        tiers.append("tools")
    else:
        print("skip install tools: include/gnas/gnas.hpp is not here")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        cases = [
            ("pkg-config", "pkg-config", lambda: with_pkg_config(prefix, work, tiers)),
            ("CMake", "cmake", lambda: with_cmake(prefix, work, tiers)),
            ("CMake refuses an unknown component", "cmake",
             lambda: cmake_refuses(prefix, work, "cmake_unknown", "gnas has no component 'teleport'")),
            ("CMake refuses another minor version", "cmake",
             lambda: cmake_refuses(prefix, work, "cmake_version", 'requested version "0.0"')),
            ("Meson subproject", "meson", lambda: as_subproject(work, tiers)),
        ]
        try:
            prefix = install(work)
            print("ok install")
        except Failed as error:
            print(f"not ok install: {error}")
            return 1
        failures = 0
        for name, program, case in cases:
            if shutil.which(program) is None:
                print(f"skip install {name}: {program} is not here")
                continue
            try:
                case()
                print(f"ok {name}")
            except Failed as error:
                failures += 1
                print(f"not ok {name}: {error}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
