#!/usr/bin/env python3
"""Runs the stages of the test suite, prints a table, and ends with `N passed, N failed, N skipped`.

Started through tests/run, which does the set-up. Every stage is a command that prints one line a check,
`ok NAME`, `not ok NAME` or `skip NAME: REASON`; other lines are its explanation. Exit status 1 when a
check failed, or when nothing passed.
"""

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tests" / "tools"
BUILD = ROOT / "build"
PYTHON = sys.executable
TAIL_LINES = 30

SANITIZE_ASAN = ["-Db_sanitize=address,undefined",
                 "-Dcpp_args=-fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS"]
SANITIZE_TSAN = ["-Db_sanitize=thread"]
# Instrumented code confuses g++'s flow warnings; the release build is the one that enforces them.
SANITIZE = ["-Dwerror=false", "-Dbuildtype=plain", "-Doptimization=1", "-Ddebug=true",
            "-Db_lundef=false", "-Dnative=false", "-Dexamples=false", "-Dcuda=disabled", "-Dmpi=disabled",
            "-Dnccl=disabled", "-Dmetis=disabled"]
TSAN_FOLDERS = "cpu,train,search,store"


class Result:
    """Counts of one stage and the output to show when something failed."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.output = []
        self.reasons = []
        self.tails = []
        self.seconds = 0.0

    def read(self, line):
        if line.startswith("ok "):
            self.passed += 1
        elif line.startswith("not ok "):
            self.failed += 1
        elif line.startswith("skip "):
            self.skipped += 1
            self.reasons.append(line[5:])
        self.output.append(line)


def run_command(result, command, environment, limit, parse=True):
    """Adds a command's output to `result`; its own failure is a failed check. True on success."""
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True) as process:
        try:
            out, _ = process.communicate(timeout=limit)
            ended = True
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, _ = process.communicate()
            ended = False
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    failed_before = result.failed
    start = len(result.output)
    for line in out.decode("utf-8", "replace").splitlines():
        if parse:
            result.read(line)
        else:
            result.output.append(line)
    if not ended:
        result.read(f"not ok {command_name(command)}: still running after {limit} s, killed")
    elif process.returncode != 0 and result.failed == failed_before:
        # A command that reported its own failures says so in its exit status too: counted once.
        result.read(f"not ok {command_name(command)}: exit status {process.returncode}")
    if result.failed > failed_before:
        result.tails.append((command_name(command), result.output[start:][-TAIL_LINES:]))
    return ended and process.returncode == 0


def command_name(command):
    return " ".join(pathlib.Path(str(word)).name for word in command[:3])


def configure(result, folder, options, environment):
    if (folder / "build.ninja").exists():
        command = ["meson", "setup", "--reconfigure", *options, str(folder)]
    else:
        command = ["meson", "setup", *options, str(folder)]
    return run_command(result, command, environment, 600, parse=False)


def build(result, folder, targets, options, settings):
    """Configures and builds as far as it goes; the log is shown only when it fails."""
    if not configure(result, folder, options, settings.environment):
        return False
    command = ["ninja", "-k", "0", "-C", str(folder), "-j", str(settings.jobs), *targets]
    return run_command(result, command, settings.environment, 3000, parse=False)


def is_current(folder, target):
    """Is the program up to date, after a build that failed somewhere?"""
    done = subprocess.run(["ninja", "-n", "-C", str(folder), target], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return done.returncode == 0 and "no work to do" in done.stdout


def program_names(kind):
    listing = subprocess.run([PYTHON, str(TOOLS / "list_sources.py"), kind], cwd=ROOT, check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    return [line.split()[0] for line in listing.splitlines() if line.strip()]


def unit_targets(only=None):
    names = program_names("tests")
    return [f"tests/unit_{name}" for name in names if only is None or name in only.split(",")]


def user_targets():
    """What a user runs: the program and the examples."""
    targets = [f"examples/{name}" for name in program_names("examples")]
    return targets + [f"examples/gnas/{name}" for name in program_names("program")]


def unit_stage(folder, options, limit, only=None):
    def stage(result, settings):
        targets = unit_targets(only)
        if not targets:
            result.read("skip unit tests: no tests/<folder>/*_test.cpp here")
            return
        if not build(result, folder, targets, options, settings):
            # The build is one failed check; folders that it did not touch still run.
            targets = [target for target in targets if is_current(folder, target)]
        if targets:
            command = [PYTHON, str(TOOLS / "run_unit.py"), *(str(folder / t) for t in targets)]
            run_command(result, command, settings.environment, limit)

    return stage


def tool(name, *arguments, limit=600, needs_build=False):
    """A stage that is one script of tests/tools."""

    def stage(result, settings):
        if needs_build and not build(result, BUILD, user_targets(), [], settings):
            return
        command = [PYTHON, str(TOOLS / name), *arguments]
        run_command(result, command, settings.environment, limit)

    return stage


def jobs_tool(name, limit=1200):
    def stage(result, settings):
        command = [PYTHON, str(TOOLS / name), "--jobs", str(settings.jobs)]
        run_command(result, command, settings.environment, limit)

    return stage


def data_script(result, settings):
    script = ROOT / "examples" / "data" / "debian-bookworm" / "make.py"
    if not script.exists():
        result.read("skip data script: examples/data/debian-bookworm/make.py is not here")
        return
    command = [PYTHON, str(script), "--self-test"]
    if run_command(result, command, settings.environment, 300, parse=False):
        result.read("ok make.py --self-test")


def e2e(result, settings):
    scripts = sorted((ROOT / "tests" / "e2e").glob("*.py"))
    # A file that starts with an underscore is a module of the others.
    scripts = [script for script in scripts if not script.name.startswith("_")]
    if not scripts:
        result.read("skip e2e: no tests/e2e/*.py here")
        return
    if not build(result, BUILD, user_targets(), [], settings):
        return
    for script in scripts:
        before = (result.passed, result.failed, result.skipped)
        run_command(result, [PYTHON, str(script)], settings.environment, 900)
        if before == (result.passed, result.failed, result.skipped):
            result.read(f"not ok {script.name}: printed no check")


STAGES = [
    # name, quick, what it checks, how
    ("format", True, "clang-format 14 over C++ and CUDA files", tool("check_format.py")),
    ("header-list", True, "include/meson.build names every public header",
     tool("check_header_list.py")),
    ("arrows", True, "no include points against the direction of the layers", tool("check_arrows.py")),
    ("data-script", True, "self-test of the embedded data's script", data_script),
    ("docs", True, "code blocks of the pages equal the files they come from", tool("check_docs.py")),
    ("unit", True, "unit tests, release build", unit_stage(BUILD, [], 1800)),
    ("e2e", True, "the program from the outside", e2e),
    ("examples", True, "each example prints what it promises",
     tool("check_examples.py", needs_build=True)),
    ("headers", False, "each public header compiles alone", jobs_tool("check_headers.py")),
    ("reject", False, "what must not compile does not, for the reason it names",
     jobs_tool("check_reject.py")),
    ("odr", False, "two files that include everything link", tool("check_odr.py")),
    ("install", False, "CMake, pkg-config and Meson consumers", tool("check_install.py")),
    ("cuda", False, "nvcc accepts every core header",
     tool("cuda_check.py", "--work", str(ROOT / "build-cuda"), limit=1800)),
    ("asan", False, "unit tests under address and undefined-behavior sanitizers",
     unit_stage(ROOT / "build-asan", SANITIZE + SANITIZE_ASAN, 2400)),
    ("tsan", False, "threaded unit tests under the thread sanitizer",
     unit_stage(ROOT / "build-tsan", SANITIZE + SANITIZE_TSAN, 2400, TSAN_FOLDERS)),
]


def environment():
    """What the stages see: where the program, the build and the optional real data lie."""
    values = dict(os.environ)
    values["GNAS_BIN"] = str(BUILD / "examples" / "gnas" / "gnas")
    values["GNAS_BUILD"] = str(BUILD)
    data = ROOT.parent / "shared" / "data"
    if "GNAS_TEST_DATA" not in values and data.is_dir():
        values["GNAS_TEST_DATA"] = str(data)
    # A leak or a race must end the program; a race report names both stacks only with history.
    values.setdefault("ASAN_OPTIONS", "abort_on_error=0:detect_leaks=1:allocator_may_return_null=1")
    values.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    values.setdefault("TSAN_OPTIONS", "halt_on_error=1:second_deadlock_stack=1")
    values["LC_ALL"] = "C.UTF-8"
    return values


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="tests/run", description="Builds the project and runs its tests.")
    parser.add_argument("--only", metavar="NAME,...", help="run these stages only")
    parser.add_argument("--quick", action="store_true",
                        help="leave out sanitizers, header, link, install and CUDA stages")
    parser.add_argument("--list", action="store_true", help="print the stages and end")
    parser.add_argument("--jobs", type=int, default=max(1, len(os.sched_getaffinity(0))),
                        help="compilers at a time (default: the number of cores)")
    options = parser.parse_args()
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs}: at least 1 is needed")
    names = [stage[0] for stage in STAGES]
    if options.only is not None:
        for name in options.only.split(","):
            if name not in names:
                parser.error(f"--only: no stage '{name}'; the stages are {', '.join(names)}")
    return options


def main():
    options = parse_arguments()
    if options.list:
        for name, quick, text, _ in STAGES:
            print(f"{name:12} {'quick' if quick else '     '}  {text}")
        return 0
    wanted = [
        stage for stage in STAGES
        if (options.only is None or stage[0] in options.only.split(","))
        and (stage[1] or not options.quick or options.only is not None)
    ]
    settings = argparse.Namespace(jobs=options.jobs, environment=environment())

    results = []
    for name, _, text, run in wanted:
        print(f"{name}: {text} ...", flush=True)
        result = Result()
        begin = time.monotonic()
        run(result, settings)
        result.seconds = time.monotonic() - begin
        results.append((name, result))
        for line in result.output:
            if line.startswith("not ok "):
                print("  " + line)
        for reason in result.reasons:
            print("  skipped: " + reason)
        sys.stdout.flush()

    print()
    print(f"{'stage':12} {'passed':>7} {'failed':>7} {'skipped':>8} {'seconds':>8}")
    for name, result in results:
        print(f"{name:12} {result.passed:7} {result.failed:7} {result.skipped:8} {result.seconds:8.1f}")
    for name, result in results:
        for command, lines in result.tails:
            print(f"\n---- {name}: last {TAIL_LINES} lines of {command}")
            for line in lines:
                print("| " + line)
    passed = sum(result.passed for _, result in results)
    failed = sum(result.failed for _, result in results)
    skipped = sum(result.skipped for _, result in results)
    print()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
