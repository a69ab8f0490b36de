#!/usr/bin/env python3
"""Times the Python package beside CuPy, SciPy and PyAMG on the same systems, by turns in one process:

    bench/python/compare.py [PART]... [--json FILE] [--sizes 64,128,256] [--answer 256] [--cpu 128]
                            [--grid 10000] [--devices 1,2] [--repetitions 5]

    overhead    small systems on a kept Operator; the import; memory of 1000 solves; four threads
    iteration   CG on GPUs against CuPy's: poisson3d of the sizes with constant and with random values, b random,
                no preconditioner, a kept Operator, arrays on the GPUs
    answer      on a GPU from SciPy's arrays to x in host memory: poisson3d, b = ones
    cpu         the same on all cores, b random, against SciPy and PyAMG
    grid        the same on each number of devices: poisson2d with GRID^2 rows, b random, to 1e-6

Without PART: all that this machine can do. Relative residuals are 1e-8 where nothing else is said, recomputed
from x; a library whose own residual strays gets a smaller tolerance. ms is a call, the median of the repetitions
after one that is thrown away; us/it is ms over iterations; beside_ms is what a call takes beside krylith's solver:
conversions, copies and set-up. p10, p90 and the machine are in the JSON. What fails is VOID, with the reason, and
the exit status is 1.
"""
import argparse
import gc
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import krylith
from contestants import by_cupy, by_function, by_operator, by_operator_on_gpus, by_pyamg, by_scipy
from machine import machine
from race import Run, race

GPUS = krylith.show_config()["gpus"]


def random_vector(A):
    return np.random.default_rng(1).standard_normal(A.shape[0])


def overhead(run, options):
    for n in (8, 16, 32):
        A = krylith.load(f"gallery:poisson3d:{n}")
        b = np.ones(A.shape[0])
        makers = {"krylith": lambda: by_operator(A, b), "SciPy": lambda: by_scipy(A, b)}
        if GPUS:
            makers |= {"krylith on a GPU": lambda: by_operator_on_gpus(A, b, 1), "CuPy": lambda: by_cupy(A, b, True)}
        race(run, "overhead", f"poisson3d:{n}", A, b, makers, 10 * options.repetitions)
    code = "import numpy, time; t = time.perf_counter(); import krylith; print(time.perf_counter() - t)"
    times = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(options.repetitions + 1)]
    run.add("overhead", "import, after NumPy", "krylith", times=times[1:])
    memory_of_solves(run)
    threads(run, options)


def memory_of_solves(run):
    A = krylith.load("gallery:poisson3d:16")
    b, op = np.ones(A.shape[0]), krylith.Operator(A)

    def resident_kib():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024

    for solves in (200, 1000):  # the first are thrown away
        before = resident_kib()
        for _ in range(solves // 2):
            op.cg(b, M="jacobi")
            krylith.cg(A, b)
    run.add("overhead", "1000 solves, memory", "krylith", more_kib=resident_kib() - before)


def threads(run, options):
    A = krylith.load("gallery:poisson3d:48")
    b = random_vector(A)
    ops = [krylith.Operator(A, threads=0 if GPUS else 1) for _ in range(4)]
    times = {1: [], 4: []}
    for _ in range(options.repetitions + 1):
        for workers, kept in times.items():
            begin = time.perf_counter()
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(lambda op: op.cg(b, M=None), ops))
            kept.append(time.perf_counter() - begin)
    for workers, kept in times.items():
        run.add("overhead", f"4 Operators, threads: {workers}", "krylith, Operator", times=kept[1:])


def iteration(run, options):
    import cupy

    for n in options.sizes:
        for spec in (f"poisson3d:{n}", f"poisson3d:{n}:random=1"):
            A = krylith.load(f"gallery:{spec}")
            b = random_vector(A)
            makers = {f"krylith on {d}": lambda d=d: by_operator_on_gpus(A, b, d) for d in options.devices}
            makers["CuPy"] = lambda: by_cupy(A, b, True)
            race(run, "iteration", spec, A, b, makers, options.repetitions if n < 200 else min(options.repetitions, 3))
            gc.collect()
            cupy.get_default_memory_pool().free_all_blocks()


def answer(run, options):
    spec = f"poisson3d:{options.answer}"
    A = krylith.load(f"gallery:{spec}")
    b = np.ones(A.shape[0])
    makers = {name: lambda name=name: by_function(name, A, b) for name in ("cg", "solve")}
    makers["CuPy"] = lambda: by_cupy(A, b, False)
    race(run, "answer", spec, A, b, makers, min(options.repetitions, 3))


def cpu(run, options):
    spec = f"poisson3d:{options.cpu}"
    A = krylith.load(f"gallery:{spec}")
    b = random_vector(A)
    makers = {name: lambda name=name: by_function(name, A, b, backend="host") for name in ("cg", "solve")}
    makers |= {"SciPy": lambda: by_scipy(A, b), "PyAMG": lambda: by_pyamg(A, b)}
    race(run, "cpu", spec, A, b, makers, min(options.repetitions, 3))


def grid(run, options):
    spec = f"poisson2d:{options.grid}"
    A = krylith.load(f"gallery:{spec}")
    b = random_vector(A)
    makers = {f"krylith on {d}": lambda d=d: by_function("solve", A, b, d) for d in options.devices}
    race(run, "grid", spec, A, b, makers, min(options.repetitions, 3), target=1e-6)


PARTS = {part.__name__: part for part in (overhead, iteration, answer, cpu, grid)}
ON_GPUS = ("iteration", "answer", "grid")


def numbers(text):
    return [int(part) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--sizes", type=numbers, default=[64, 128, 256])
    parser.add_argument("--answer", type=int, default=256)
    parser.add_argument("--cpu", type=int, default=128)
    parser.add_argument("--grid", type=int, default=10000)
    parser.add_argument("--devices", type=numbers, default=[1, 2])
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    facts = machine()
    print(", ".join(f"{name} {version or '-'}" for name, version in facts["versions"].items()))
    print("; ".join(facts["devices"]))
    for devices in [d for d in options.devices if d > GPUS > 0]:
        print(f"{devices} GPUs: left out, there are {GPUS}")
        options.devices.remove(devices)
    run = Run()
    for part in options.parts or PARTS:
        if not options.parts and part in ON_GPUS and not GPUS:
            print(f"{part}: left out, krylith finds no GPU, or was built without them")
            continue
        begin = time.perf_counter()
        try:
            PARTS[part](run, options)
        except Exception as error:  # the other parts go on
            run.failed(part, "", "", error)
        print(f"{part}: {time.perf_counter() - begin:.1f} s")
        if options.json:  # after each part, so that a run which is cut off keeps what it has
            run.write(options.json, facts)
    return int(any(row["void_because"] for row in run.rows))


if __name__ == "__main__":
    sys.exit(main())
