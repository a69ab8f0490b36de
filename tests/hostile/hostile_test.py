#!/usr/bin/env python3
"""Hostile inputs, outputs and limits against the built command.

    hostile_test.py KRYLITH [--backend host|cuda] [--only WORD] [--list] [--jobs N]

In each case the command must end in time, by no signal, with an exit status that docs/failure.md has, and with
a message that says what is wrong; it may leave nothing behind and lose nothing. Prints the cases in which it
doesn't; the exit status is then 1.
"""
import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

import binary_cases
import format_cases
import limit_cases
import market_cases
import output_cases
import runner


def made(krylith, folder, name, matrix):
    path = os.path.join(folder, name)
    subprocess.run([krylith, "convert", matrix, path, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    with open(path, "rb") as file:
        return file.read()


def cached_names(krylith, folder):
    """The names that krylith keeps in its cache folder."""
    cache = os.path.join(folder, "first_cache")
    for operator in ("auto", "auto:measured"):
        subprocess.run([krylith, "solve", "gallery:poisson2d:10", "--devices", "2", "--quiet", "--operator", operator,
                        "--backend", "host"], env=dict(os.environ, KRYLITH_CACHE=cache), check=False)
    subprocess.run([krylith, "devices"], env=dict(os.environ, KRYLITH_CACHE=cache), check=False,
                   stdout=subprocess.DEVNULL)
    return sorted(os.listdir(cache)) if os.path.isdir(cache) else []


def least_address_space(krylith):
    """The kilobytes in which libraries are loaded; 0 where it takes more than 4 GB, as sanitizers do."""
    for kilobytes in range(100_000, 4_000_000, 50_000):
        if subprocess.run(["sh", "-c", f'ulimit -v {kilobytes}; exec "$0" --version', krylith], check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            return kilobytes
    return 0


def all_cases(krylith, folder, backend_name):
    backend = ["--backend", backend_name]
    limited = least_address_space(krylith) if backend_name == "host" else 0  # CUDA reserves terabytes
    small = made(krylith, folder, "small.kcsr", "gallery:poisson2d:4")
    large = made(krylith, folder, "large.kcsr", "gallery:poisson3d:64")
    found = list(market_cases.cases(backend)) + list(binary_cases.cases(backend, small, large))
    found += list(format_cases.cases(backend)) + list(output_cases.cases(backend))
    found += list(limit_cases.cases(backend, cached_names(krylith, folder), limited))
    if not limited:
        for case in found:
            if "ulimit -v" in case.shell:
                case.shell = ""
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("krylith")
    parser.add_argument("--backend", default="host", choices=["host", "cuda"])
    parser.add_argument("--only", default="", help="cases whose name has this word")
    parser.add_argument("--list", action="store_true", help="say the names, run nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    given = parser.parse_args()
    krylith = os.path.abspath(given.krylith)
    folder = tempfile.mkdtemp(prefix="krylith_hostile_")
    try:
        cases = [case for case in all_cases(krylith, folder, given.backend) if given.only in case.name]
        if given.list:
            print("\n".join(case.name for case in cases))
            return 0
        if os.getuid() == 0:
            print("Run by root, who may read and write all: folders without permission are left out.")
        failures = {}
        with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
            runs = {pool.submit(runner.run, case, krylith, os.path.join(folder, f"case{number}")): case
                    for number, case in enumerate(cases)}
            for done in concurrent.futures.as_completed(runs):
                if done.result():
                    failures[runs[done].name] = done.result()
        for case in cases:
            if case.name in failures:
                print(f"{case.name}: " + "; ".join(failures[case.name]))
                print("    krylith " + " ".join(repr(word)[:80] for word in case.arguments))
        print(f"{len(cases)} cases, {len(failures)} failed")
        return 1 if failures or not cases else 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
