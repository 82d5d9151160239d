"""A whole search in PyTorch Geometric: every candidate of a file, trained by worker processes.

What a PyG user would write: a pool of processes, each with its own copy of the data and one thread,
taking the next candidate when it is free. Prints one JSON line a candidate and a last one with the
seconds of the pool (start of the workers, imports and loading included).
"""

import argparse
import json
import multiprocessing
import time
import warnings

warnings.filterwarnings("ignore")

STATE = {}


def start_worker(data_name, data_folder, debian, threads):
    import torch

    import pyg_model
    torch.set_num_threads(threads)
    STATE.update(model=pyg_model, name=data_name,
                 graph=pyg_model.load(data_name, data_folder, debian))


def evaluate(job):
    number, arch, epochs, seed, mode = job
    start = time.perf_counter()
    try:
        val, test = STATE["model"].train(arch, STATE["name"], STATE["graph"], epochs, seed, mode)
        result = {"number": number, "arch": arch, "val": val, "test": test}
    except Exception as error:
        result = {"number": number, "arch": arch, "failed": f"{type(error).__name__}: {error}"[:300]}
    result["seconds"] = time.perf_counter() - start
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder with cora/ ...")
    parser.add_argument("--dataset", default="cora")
    parser.add_argument("--debian", default="")
    parser.add_argument("--arch-file", required=True)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="of each worker")
    parser.add_argument("--mode", default="sparse", choices=("eager", "sparse", "compiled"))
    args = parser.parse_args()
    from protocol import read_list
    jobs = [(i, arch, args.epochs, args.seed, args.mode)
            for i, arch in enumerate(read_list(args.arch_file))]
    context = multiprocessing.get_context("spawn")
    start = time.perf_counter()
    with context.Pool(args.workers, start_worker,
                      (args.dataset, args.data, args.debian, args.threads)) as pool:
        for result in pool.imap_unordered(evaluate, jobs, chunksize=1):
            print(json.dumps(result), flush=True)
    print(json.dumps({"total_seconds": time.perf_counter() - start}), flush=True)


if __name__ == "__main__":
    main()
