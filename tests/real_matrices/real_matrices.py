#!/usr/bin/env python3
"""Solves every matrix of a folder by the command's default options:

    real_matrices.py KRYLITH [FOLDER]

The folder is that of the environment variable KRYLITH_MATRICES where none is given; without either nothing
is tried, and exit status 77 says so. Every .mtx file must converge within a minute, with b = ones and with a b in
the range of the matrix, but for those of may_fail.txt, which must end in a minute with a reason. Prints a line for
each; exits with 1 where one failed that may not, or one that may fail has no longer a reason to stand there.
"""
import json
import os
import pathlib
import subprocess
import sys
import time

MOST_SECONDS = 60
LIST = pathlib.Path(__file__).with_name("may_fail.txt")
RIGHT_HAND_SIDES = ["ones", "range:1"]  # as --rhs takes them


def may_fail():
    """{(name, right-hand side): why} of the lines "NAME RHS: WHY", where NAME alone stands for all."""
    reasons = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        key, why = line.split(": ", 1)
        name, *named = key.split()
        for rhs in named or RIGHT_HAND_SIDES:
            reasons[name, rhs] = why
    return reasons


def attempt_in_words(attempt):
    words = f"{attempt['solver']} + {attempt['preconditioner']}"
    if attempt["side"] not in (None, "right"):
        words += f" ({attempt['side']})"
    return f"{words}: {attempt['reason']} after {attempt['iterations']}"


def solve(krylith, matrix, rhs):
    """(whether it converged, what happened in words)."""
    start = time.monotonic()
    try:
        run = subprocess.run([krylith, "solve", str(matrix), "--rhs", rhs, "--backend", "host", "--quiet",
                              "--report", "-"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                             timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        return False, f"no end after {MOST_SECONDS} s"
    if run.returncode not in (0, 1):
        return False, f"status {run.returncode}: {run.stderr.strip()}"
    report = json.loads(run.stdout)
    tried = "; ".join(attempt_in_words(attempt) for attempt in report["attempts"])
    return run.returncode == 0, f"{time.monotonic() - start:.1f} s, {tried}"


def main(krylith, folder):
    if not folder:
        print("KRYLITH_MATRICES names no folder of matrices: nothing was tried")
        return 77
    matrices = sorted(pathlib.Path(folder).glob("*.mtx"))
    allowed = may_fail()
    offences = [] if matrices else [f"{folder} has no .mtx files"]
    for rhs in RIGHT_HAND_SIDES:
        converged = 0
        for matrix in matrices:
            good, words = solve(krylith, matrix, rhs)
            converged += good
            why = allowed.get((matrix.stem, rhs))
            print(f"{'converged' if good else 'failed':<9}  {matrix.stem}: {words}" +
                  (f" ({why})" if why and not good else ""), flush=True)
            if not good and why is None:
                offences.append(f"{matrix.stem} did not converge with --rhs {rhs}: {words}")
            if good and why is not None:
                offences.append(f"{matrix.stem} converged with --rhs {rhs}: take it off {LIST.name}")
        print(f"{converged} of {len(matrices)} converged with --rhs {rhs}")
    print("\n".join(offences))
    return bool(offences)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.environ.get("KRYLITH_MATRICES")))
