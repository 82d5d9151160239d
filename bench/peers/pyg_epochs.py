"""Epochs per second of PyTorch Geometric, as a server of the line protocol in README.md.

An epoch is what a user of PyG writes: one full-batch training step (dropout, optimiser) and one
evaluation pass that gives validation and test accuracy. Features are dense.
"""

import argparse
import os
import resource
import sys
import time
import warnings

warnings.filterwarnings("ignore")
# set before torch starts its compiler: no pool of compiling processes beside the measured one
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import torch

import pyg_model

WARM_UP = 2  # epochs inside `prepare`: compilation, allocation, cached normalisation


class Server:
    def __init__(self, args):
        self.args = args
        self.loaded = (None, None)
        self.training = None

    def prepare(self, data_name, arch, mode):
        if mode not in ("eager", "sparse", "compiled"):
            raise ValueError(f"unknown mode {mode!r} (eager, sparse or compiled)")
        self.training = None
        if self.loaded[0] != data_name:
            self.loaded = (None, None)
            self.loaded = (data_name, pyg_model.load(data_name, self.args.data, self.args.debian))
        torch.compiler.reset()
        self.training = pyg_model.Training(arch, data_name, self.loaded[1], mode, self.args.seed)
        for _ in range(WARM_UP):
            self.training.epoch()
        return f"ready {pyg_model.count_parameters(self.training.model)}"

    def run(self, epochs):
        if self.training is None:
            raise ValueError("run before a successful prepare")
        start = time.perf_counter()
        for _ in range(epochs):
            last = self.training.epoch()
        seconds = time.perf_counter() - start
        return "ok {:.6f} {:.6f} {:.6f} {:.6f}".format(seconds, *last)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder with cora/, citeseer/, pubmed/")
    parser.add_argument("--debian", default="", help="debian-bookworm.npz")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--memory-gib", type=float, default=0, help="refuse to allocate more")
    args = parser.parse_args()
    if args.memory_gib > 0:
        limit = int(args.memory_gib * 2**30)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    torch.set_num_threads(args.threads)
    server = Server(args)
    # the protocol owns standard output; whatever a library prints goes to standard error
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        if words[0] == "quit":
            break
        try:
            if words[0] == "prepare" and len(words) == 4:
                answers.write(server.prepare(*words[1:]) + "\n")
            elif words[0] == "run" and len(words) == 2:
                answers.write(server.run(int(words[1])) + "\n")
            else:
                raise ValueError(f"unknown request {line.strip()!r}")
        except Exception as error:  # a failing cell is a result; the server lives on
            server.training = None
            text = " ".join(str(error).split())[:300]
            answers.write(f"failed {type(error).__name__}: {text}\n")


if __name__ == "__main__":
    main()
