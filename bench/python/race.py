"""Times solvers by turns, prints the table, and keeps it for the JSON."""

import json
import statistics
import time
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

LINE = "{:10}{:30}{:24}{:>4}{:>12}{:>8}{:>10}  {}"


@dataclass
class Contestant:
    """A library, and solve(tolerance, callback), which returns x and an Info or None."""

    library: str
    solve: Callable[..., tuple[Any, Any]]
    devices: int = 1


class Run:
    """The rows that were measured. void_because says which checks a row failed."""

    def __init__(self):
        self.rows = []
        print(LINE.format("part", "case", "library", "on", "ms", "it", "us/it", "residual"))

    def add(self, part, case, library, devices=1, times=(), void_because=(), iterations=None, residual=None, **more):
        row = {"part": part, "case": case, "library": library, "devices": devices, "iterations": iterations,
               "relative_residual": residual, **more, "void_because": list(void_because)}
        words = [f"{residual:.1e}"] if residual is not None else []
        words += [f"{key} {value:.4g}" for key, value in more.items()] + [f"VOID: {reason}" for reason in void_because]
        ms = us = ""
        if times:
            p10, median, p90 = np.percentile(1e3 * np.array(times), [10, 50, 90])
            row["ms"] = {"median": median, "p10": p10, "p90": p90, "samples": len(times)}
            ms, us = f"{median:.4g}", f"{1e3 * median / iterations:.4g}" if iterations else ""
        self.rows.append(row)
        print(LINE.format(part, case, library, devices, ms, iterations or "", us, ", ".join(words)), flush=True)

    def failed(self, part, case, library, error):
        self.add(part, case, library, void_because=[f"{type(error).__name__}: {error}".split("\n")[0][:200]])

    def write(self, path, machine):
        rows = ",\n".join(json.dumps(row) for row in self.rows)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'{{\n"benchmark": "python",\n"machine": {json.dumps(machine)},\n"rows": [\n{rows}\n]\n}}\n')


def race(run, part, case, A, b, makers, repetitions, target=1e-8):
    """Times what the makers return by turns, each with the tolerance that brings b - A x to the target."""
    ready = []
    for library, make in makers.items():
        try:
            contestant = make()
            ready.append((contestant, *tightened(contestant, A, b, target), [], []))
        except Exception as error:  # not installed, no such device, no answer: the others go on
            run.failed(part, case, library, error)
    for _ in range(repetitions):
        for contestant, tolerance, _, _, times, beside in ready:
            begin = time.perf_counter()
            info = contestant.solve(tolerance, None)[1]
            times.append(time.perf_counter() - begin)
            if info is not None:
                beside.append(1e3 * (times[-1] - info.solve_seconds))
    for contestant, tolerance, iterations, residual, times, beside in ready:
        more = {"beside_ms": statistics.median(beside)} if beside else {}
        if tolerance != target:
            more["tolerance"] = tolerance
        run.add(part, case, contestant.library, contestant.devices, times, (), iterations, residual, **more)


def tightened(contestant, A, b, target):
    """Returns the tolerance with which ||b - A x|| <= target ||b||, and its iterations and residual."""
    tolerance = target
    for _ in range(8):
        steps = []
        x, info = contestant.solve(tolerance, lambda _: steps.append(1))
        residual = float(np.linalg.norm(b - A @ on_host(x)) / np.linalg.norm(b))
        if residual <= target * (1 + 1e-6):  # sums in another order
            return tolerance, getattr(info, "iterations", len(steps)), residual
        if residual > 10 * target:  # not by another measure of the residual, but not at all
            break
        tolerance *= 0.9
    raise RuntimeError(f"the residual is {residual:.1e}, and {target:.0e} was asked for")


def on_host(x):
    if isinstance(x, list):  # a part for each device
        return np.concatenate([on_host(part) for part in x])
    return x.get() if hasattr(x, "get") else np.asarray(x)
