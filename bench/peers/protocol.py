"""The driver's end of the line protocol, and what every comparison writes about the machine."""

import os
import platform
import select
import statistics
import subprocess
import time


class Contender:
    """A server process. A crash or a missed time limit fails the request, not the driver."""

    def __init__(self, name, mode, command, env=None):
        self.name, self.mode, self.command = name, mode, command
        self.env = dict(os.environ, **(env or {}))
        self.process, self.buffer = None, b""

    def start(self):
        self.stop()
        self.buffer = b""
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, env=self.env,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def stop(self):
        if self.process is None:
            return
        try:
            if self.process.poll() is None:
                self.process.stdin.write(b"quit\n")
                self.process.stdin.flush()
                self.process.wait(timeout=5)
        except (OSError, subprocess.TimeoutExpired):
            pass
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process = None

    def ask(self, request, limit_s):
        """One request, one answer line: (True, fields) or (False, reason)."""
        try:
            if self.process is None or self.process.poll() is not None:
                self.start()
            self.process.stdin.write((request + "\n").encode())
            self.process.stdin.flush()
            line = self._line(limit_s)
        except OSError as error:
            self.stop()
            return False, f"{self.command[0]}: {error}"
        if line is None:
            self.stop()
            return False, f"no answer in {limit_s} s"
        if line == "":
            code = self.process.wait()
            self.stop()
            return False, f"the process ended with status {code}"
        head, _, rest = line.partition(" ")
        if head in ("ready", "ok"):
            return True, [float(v) for v in rest.split()]
        return False, rest if head == "failed" else f"unexpected answer {line!r}"

    def _line(self, limit_s):
        end = time.monotonic() + limit_s
        while b"\n" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            chunk = os.read(self.process.stdout.fileno(), 65536)
            if not chunk:
                return ""
            self.buffer += chunk
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode(errors="replace").strip()


def read_list(path):
    with open(path, encoding="utf-8") as f:
        return [s for s in (line.strip() for line in f) if s and not s.startswith("#")]


def geometric_mean(values):
    return statistics.geometric_mean(values) if values else float("nan")


def machine():
    """Processor, cores and system, for the head of a result."""
    cpu = platform.processor() or "unknown"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            cpu = next(line.split(":", 1)[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {"cpu": cpu, "cores": os.cpu_count(), "system": platform.platform(),
            "date": time.strftime("%Y-%m-%d")}


def versions(python):
    """Versions of the peer's libraries, asked of the interpreter that runs it."""
    code = ("import torch, torch_geometric, numpy, platform; print(platform.python_version(), "
            "torch.__version__, torch_geometric.__version__, numpy.__version__)")
    out = subprocess.run([python, "-W", "ignore", "-c", code], capture_output=True, text=True)
    names = ("python", "torch", "torch_geometric", "numpy")
    return dict(zip(names, out.stdout.split())) if out.returncode == 0 else {}
