#!/usr/bin/env python3
"""Prints what scripts/several_gpus measured, beside the goals:

    scripts/several_gpus.py FOLDER...

A FOLDER is what scripts/several_gpus wrote (runs.tar.xz), or has reports of `krylith bench`, as .json or
.json.xz: those in bench/results do, too. Reports of the same case in several folders are taken together: of
CG, streamed products and operators the fastest counts. The goals are for four NVIDIA H200, and stand in one
table, `goals`. A figure that misses its goal is followed by the times that it is made of. Exits with 2 for
folders that have no reports.
"""
import argparse
import io
import json
import lzma
import math
import pathlib
import statistics
import sys
import tarfile
import textwrap

# What scripts/several_gpus measures unless it is told --small, by its own names.
MATRICES = {name: "gallery:" + text for name, text in {
    "64": "poisson3d:64", "128": "poisson3d:128", "256": "poisson3d:256", "400": "poisson3d:400",
    "256_random": "poisson3d:256:random=1", "400_random": "poisson3d:400:random=1",
    "27": "poisson3d_27point:256", "27_random": "poisson3d_27point:256:random=1", "rmat": "rmat:20",
    "27_160": "poisson3d_27point:160", "web": "web:4130000", "205": "poisson3d:205",
    "27_128": "poisson3d_27point:128", "random": "random:3750000:16", "kmer": "kmer:4800000"}.items()}
OPERATORS = ["nz", "2nz", "lra", "lra-rc", "halo", "allgather", "pcsr", "pcsc", "pcoo", "auto"]


# ---- Reports ---------------------------------------------------------------------------------------

def files_of(folder):
    """(name, bytes) of all reports of a folder, those in archives too."""
    for path in sorted(folder.rglob("*")):
        if path.name.startswith("runs.tar."):
            with tarfile.open(path) as archive:
                for member in archive.getmembers():
                    if member.isfile() and member.name.endswith((".json", "tests.log")):
                        yield pathlib.Path(member.name).name, archive.extractfile(member).read()
        elif path.name.endswith(".json.xz"):
            yield path.name.removesuffix(".xz"), lzma.decompress(path.read_bytes())
        elif path.name.endswith(".json"):
            yield path.name, path.read_bytes()


class runs:
    """All reports: rows by benchmark, and what has no rows."""

    def __init__(self, folders):
        self.rows = {}     # of valid rows, by benchmark
        self.void = []     # "cg gallery:poisson3d:64 on 2: why"
        self.targets = []  # --target of runs of spmv
        self.steps = []    # of the script, as they ended
        self.solves = {}   # reports of krylith solve, by name
        self.devices_report = {}
        self.tests = ""
        self.names = set()  # of devices
        self.matrices = dict(MATRICES)
        self.devices, self.goal_devices = 0, 4
        for folder in folders:
            for name, content in files_of(folder):
                if name == "tests.log":
                    self.tests = content.decode(errors="replace")
                    continue
                try:
                    self.add(name.removesuffix(".json"), json.loads(content))
                except ValueError:  # cut short
                    self.void.append(f"{name} is no JSON")

    def add(self, name, report):
        if isinstance(report, list):
            return
        if "facts" in report:
            self.matrices.update(report["matrices"])
            self.goal_devices = report["goal_devices"]
        elif "step" in report:
            self.steps.append(report)
        elif "benchmark" in report and isinstance(report.get("rows"), list):
            self.add_rows(report)
        elif "operator_because" in report:
            self.solves[name] = report
        elif "cuda" in report or "host" in report:
            self.devices_report = report.get("cuda") or report.get("host")

    def add_rows(self, report):
        options = report.get("options", {})
        kind = report["benchmark"]
        self.names.update(text.split(" (")[0] for text in report.get("machine", {}).get("devices", []))
        if "target" in options:
            self.targets.append(options["target"])
        for row in report["rows"]:
            row = {**row, "benchmark": kind, "precond": options.get("preconditioner", "none"),
                   "precision": options.get("precision", "fp64")}
            if row.get("void_because"):
                self.void.append(f"{kind} {row.get('matrix')} on {row.get('devices')}: "
                                 f"{'; '.join(row['void_because'])}")
                continue
            self.devices = max(self.devices, row.get("devices", 0))
            self.rows.setdefault(kind.split(":")[0], []).append(row)

    def of(self, benchmark, **wanted):
        """The rows of a benchmark that have these values; `matrix` is one of the names in MATRICES."""
        if "matrix" in wanted:
            wanted["matrix"] = self.matrices[wanted["matrix"]]
        return [row for row in self.rows.get(benchmark, [])
                if all(row.get(key) == value for key, value in wanted.items())]

    # ---- Figures: a number, or None where it wasn't measured --------------------------------------

    def cg_row(self, matrix, devices):
        """The fastest of krylith's, of cg, cg:persistent and cg:launched."""
        return min(self.of("cg", matrix=matrix, devices=devices, solver="krylith", precond="none"),
                   key=median("us_per_iteration"), default=None)

    def cg(self, matrix, devices=None):
        row = self.cg_row(matrix, devices or self.goal_devices)
        return row and row["us_per_iteration"]["median"]

    def product_row(self, matrix, operator, devices=None, precision="fp64"):
        return min(self.of("spmv", matrix=matrix, devices=devices or self.goal_devices, asked=operator,
                           precision=precision), key=median("us"), default=None)

    def of_limit(self, matrix, operator, precision):
        row = self.product_row(matrix, operator, precision=precision)
        return row and row.get("fraction_of_limit")

    def split_row(self, matrix):
        row = self.product_row(matrix, "pcsr")
        return row if row and row.get("speedup") and row.get("compute_us") else None

    def multigrid_row(self, matrix, devices=None):
        return next(iter(self.of("multigrid", matrix=matrix, devices=devices or self.goal_devices,
                                 library="krylith")), None)

    def multigrid(self, matrix):
        row = self.multigrid_row(matrix)
        return row and row["ms"]["total"]["median"]

    def streamed_row(self, matrix, form="csr", devices=None):
        return min(self.of("streamed", matrix=matrix, devices=devices or self.goal_devices, version="p_opt",
                           format=form), key=median("us"), default=None)

    def streamed(self, matrix):
        row = self.streamed_row(matrix)
        return row and row["us"]["median"] * 1e-3

    def kernels(self, matrix):
        """pcsr's slowest block alone, against the whole matrix on one device."""
        row = self.split_row(matrix)
        return row and row["speedup"] * row["us"]["median"] / row["compute_us"]

    def merged(self, matrix):
        row = self.split_row(matrix)
        return row and row["speedup"]

    def families(self):
        """{(matrix): {operator: speed-up}} of families on the most devices."""
        rows = [row for row in self.of("spmv") if row.get("size") and row["devices"] > 1 and "speedup" in row]
        most = max((row["devices"] for row in rows), default=0)
        table = {}
        for row in rows:
            if row["devices"] == most:
                best = table.setdefault(row["matrix"], {})
                best[row["asked"]] = max(best.get(row["asked"], 0), row["speedup"])
        return table

    def operator_mean(self, operator):
        return mean(row[operator] for row in self.families().values() if operator in row)

    def auto_loss(self):
        """How much longer the product by auto takes than by the fastest operator, by matrix."""
        return {matrix: max(row.values()) / row["auto"] for matrix, row in self.families().items()
                if "auto" in row and len(row) > 1}

    def web_operator(self):
        return self.solves.get("web_auto", {}).get("operator")

    def imbalance(self, what):
        return max((row[what] for row in self.of("imbalance")), default=None)

    def failed_tests(self):
        """What doctest counted, None where its log has no end."""
        for line in reversed(self.tests.splitlines()):
            if "test cases:" in line:
                return int(line.split("passed |")[1].split("failed")[0])
        return None

    # ---- What a figure is made of ------------------------------------------------------------------

    def phase_seconds(self, devices):
        """us of a kernel with its all-reduce."""
        return next((1e6 * row["seconds"] for row in self.devices_report.get("all_reduce", [])
                     if row["devices"] == devices), None)

    def cg_phases(self, matrix):
        devices = self.goal_devices
        row = self.cg_row(matrix, devices)
        parts = self.matrices[matrix].split(":")
        side = int(parts[2])
        block = ":".join([*parts[:2], str(side), str(side), str(side // devices), *parts[3:]])
        alone = min((r for r in self.of("cg", devices=1) if r["matrix"] == block),
                    key=median("us_per_iteration"), default=None)
        product = self.product_row(matrix, "halo", devices)
        one, all_devices = self.phase_seconds(1), self.phase_seconds(devices)
        text = [f"{row['benchmark']}, format {row.get('format')}"]
        if "narrow_fraction" in row:
            text[0] += f", {100 * row['narrow_fraction']:.0f}% of the values narrow"
        rest = row["us_per_iteration"]["median"]
        if alone:
            compute = alone["us_per_iteration"]["median"]
            rest -= compute
            text.append(f"compute {compute:.1f} (a block alone, its launches included)")
            if "passes_us" in alone:
                text.append("of it " + ", ".join(f"{name} {us:.1f}" for name, us in alone["passes_us"].items()
                                                 if name != "all"))
        if product and "compute_us" in product:
            ghosts = max(0.0, product["us"]["median"] - product["compute_us"])
            rest -= ghosts
            text.append(f"ghosts {ghosts:.1f}")
        if one and all_devices:
            rest -= 2 * (all_devices - one)
            text.append(f"all-reduces {2 * (all_devices - one):.1f}")
            text.append(f"launch of a kernel that depends on another {one:.1f}")
        if alone:
            text.append(f"rest {rest:.1f}")
        return text

    def multigrid_phases(self, matrix):
        row = self.multigrid_row(matrix)
        return [f"{row['iterations']} iterations"] + [
            f"{name} {row['ms'][name]['median']:.1f}" for name in ("make_operator", "amg", "first solve", "second solve")]

    def streamed_phases(self, matrix):
        row = self.streamed_row(matrix)
        return [f"{name} {us['median'] * 1e-3:.3f}" for name, us in row["us_of"].items()]

    def split_phases(self, matrix):
        return product_phases(self.split_row(matrix))

    def operator_phases(self, operator):
        return [f"{short(matrix)} {row[operator]:.2f}" for matrix, row in self.families().items() if operator in row]

    def web_phases(self):
        return [self.solves["web_auto"]["operator_because"]]

    def test_names(self):
        return sorted({line.split(":", 1)[1].strip() for line in self.tests.splitlines()
                       if line.startswith("TEST CASE:")})[:20]


def product_phases(row):
    return [f"us: {row['us']['median']:.1f}", f"compute {row['compute_us']:.1f}",
            f"transfer {row['transfer_us']:.1f}", f"after it {row['waiting_us']:.1f}",
            f"{100 * row.get('narrow_fraction', 0):.0f}% of the values narrow"]


def median(key):
    return lambda row: row[key]["median"]


def mean(values):
    logs = [math.log(value) for value in values]
    return math.exp(statistics.fmean(logs)) if logs else None


def short(matrix):
    return matrix.removeprefix("gallery:")


# ---- The goals -------------------------------------------------------------------------------------

def goals(r):
    """(figure, measured, "<=" ">=" or "=", goal, unit, function that says what it is made of). Narrowed: products
    read one value for 32 equal ones; in full: values are random, so each is read as 8 bytes."""
    def cg(matrix, words, goal):
        return f"CG {words}", r.cg(matrix), "<=", goal, "us", lambda: r.cg_phases(matrix)

    def amg(matrix, words, goal):
        return f"CG with amg {words}, set-up included", r.multigrid(matrix), "<=", goal, "ms", \
            lambda: r.multigrid_phases(matrix)

    def split(matrix, words):
        return [(f"pcsr {words}, kernels over one device", r.kernels(matrix), ">=", 3.7, "x",
                 lambda: r.split_phases(matrix)),
                (f"pcsr {words}, merged, over one device", r.merged(matrix), ">=", 3.3, "x",
                 lambda: r.split_phases(matrix))]

    def results(matrix, words):
        return [(f"{operator} {words}, {precision}, of its limit", r.of_limit(matrix, operator, precision), ">=", 0.91,
                 "", lambda row=(matrix, operator, None, precision): product_phases(r.product_row(*row)))
                for precision in ("fp64", "fp32") for operator in ("nz", "2nz")]

    target = r.targets[-1] if r.targets else 2.65
    return [
        cg("64", "64^3", 9),
        cg("128", "128^3", 22),
        cg("256", "256^3, values narrowed", 116),
        cg("256_random", "256^3, values read in full", 155),
        cg("400", "400^3, values narrowed", 390),
        cg("400_random", "400^3, values read in full", 555),
        amg("256", "256^3", 22),
        amg("400", "400^3", 65),
        ("rmat:20 streamed, csr", r.streamed("rmat"), "<=", 1.4, "ms", lambda: r.streamed_phases("rmat")),
        *split("27", "27 points 256^3, narrowed"),
        *split("27_random", "27 points 256^3, in full"),
        *results("205", "205^3"),
        *results("27_128", "27 points 128^3"),
        *results("27", "27 points 256^3"),
        ("lra-rc over one device, families, mean", r.operator_mean("lra-rc"), ">=", target, "x",
         lambda: r.operator_phases("lra-rc")),
        ("web graph made spd: auto takes", r.web_operator(), "=", "halo", "", r.web_phases),
        ("tests on all devices that failed", r.failed_tests(), "<=", 0, "", r.test_names),
    ]


def met(value, relation, goal):
    return value <= goal if relation == "<=" else value >= goal if relation == ">=" else value == goal


def number(value):
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else f"{value:.4g}"


def print_goals(r, out):
    measured = [goal for goal in goals(r) if goal[1] is not None]
    title = f"{r.goal_devices} devices; the goals are for 4 NVIDIA H200"
    width = max(len(text) for text in [title, *(goal[0] for goal in measured)])
    print(f"{title:<{width}} {'measured':>9} {'goal':>10}", file=out)
    for figure, value, relation, goal, unit, parts in measured:
        reached = met(value, relation, goal)
        print(f"{figure:<{width}} {number(value):>9} {relation + ' ' + number(goal):>10} {unit:<3} "
              f"{'met' if reached else 'MISSED'}", file=out)
        if not reached:
            wrapped("; ".join(parts()), out)
    if any(r.matrices[name] != text for name, text in MATRICES.items()):
        print("Measured with --small: matrices are smaller than the names of figures say", file=out)
    missing = [figure for figure, value, *_ in goals(r) if value is None]
    if missing:
        wrapped("Not measured: " + "; ".join(missing), out, indent="")


def wrapped(text, out, indent="    "):
    print(textwrap.fill(text, 100, initial_indent=indent, subsequent_indent=indent or "    ", break_on_hyphens=False),
          file=out)


# ---- The other figures -----------------------------------------------------------------------------

def table(out, title, head, lines):
    """A table whose first column is text; None is a dash."""
    lines = [[("-" if cell is None else number(cell)) for cell in line] for line in lines]
    if not lines:
        return
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
    print(f"\n{title}", file=out)
    for line in [head, *lines]:
        print("  ".join(f"{cell:<{w}}" if i == 0 else f"{cell:>{w}}" for i, (cell, w) in enumerate(zip(line, widths)))
              .rstrip(), file=out)


def counts_of(rows):
    return sorted({row["devices"] for row in rows})


def names_of(rows):
    return list(dict.fromkeys(row["matrix"] for row in rows))


def print_cg(r, out):
    known = set(r.matrices.values())
    rows = [row for row in r.of("cg", precond="none") if row["matrix"] in known]
    counts = counts_of(rows)
    lines = []
    for matrix in names_of(rows):
        mine = [row for row in rows if row["matrix"] == matrix]
        best = {count: min((row["us_per_iteration"]["median"] for row in mine if row["devices"] == count and
                            row["solver"] == "krylith"), default=None) for count in counts}
        other = min((row["us_per_iteration"]["median"] for row in mine if row["solver"] != "krylith"), default=None)
        fewest = next((best[count] for count in counts if best[count]), None)
        most = next((best[count] for count in reversed(counts) if best[count]), None)
        lines.append([short(matrix), *best.values(), fewest / most if fewest and most else None, other])
    table(out, "CG, us an iteration, the best of cg, cg:persistent and cg:launched",
          ["", *map(str, counts), "speed-up", "baseline, 1"], lines)


def print_families(r, out):
    found = r.families()
    used = [name for name in OPERATORS if any(name in row for row in found.values())]
    lines = [[short(matrix), *(row.get(name) for name in used),
              max(row, key=row.get)] for matrix, row in found.items()]
    if lines:
        lines.append(["geometric mean", *(r.operator_mean(name) for name in used), None])
    table(out, "Products of families by operator, over the fastest format on one device", ["", *used, "best"], lines)
    loss = r.auto_loss()
    if loss:
        worst = max(loss, key=loss.get)
        print(f"auto takes {mean(loss.values()):.3f} of the fastest operator's time in the mean, "
              f"{loss[worst]:.3f} on {short(worst)}", file=out)


def print_multigrid(r, out):
    names = ("make_operator", "amg", "first solve", "total", "second solve", "amg update")
    table(out, "CG with amg from rows on the devices, ms", ["", "devices", "iterations", *names],
          [[short(row["matrix"]), row["devices"], row["iterations"],
            *(row["ms"].get(name, {}).get("median") for name in names)] for row in r.of("multigrid", library="krylith")])


def print_preconditioners(r, out):
    rows = [row for row in r.of("cg", solver="krylith") if row["precond"] != "none" and "solve_seconds" in row]
    table(out, "CG with a preconditioner, from rows in host memory",
          ["", "precond", "devices", "iterations", "set-up, ms", "solve, ms", "us an iteration"],
          [[short(row["matrix"]), row["precond"], row["devices"], row["iterations"], 1e3 * row["setup_seconds"],
            1e3 * row["solve_seconds"]["median"], row["us_per_iteration"]["median"]] for row in rows])


def print_right_hand_sides(r, out):
    table(out, "Several right-hand sides, ms a system", ["", "devices", "systems", "at once", "one by one", "ratio"],
          [[short(row["matrix"]), row["devices"], row["columns"], row["at_once"]["ms"]["median"],
            row["one_by_one"]["ms"]["median"], row["ratio"]] for row in r.of("right-hand-sides")])


def print_graphs(r, out):
    rows = r.of("graph", contestant="adaptive")
    counts = counts_of(rows)
    lines = []
    for matrix in names_of(rows):
        for algorithm in dict.fromkeys(row["algorithm"] for row in rows):
            ms = {row["devices"]: row["ms"]["median"] for row in rows
                  if row["matrix"] == matrix and row["algorithm"] == algorithm}
            lines.append([short(matrix), algorithm, *(ms.get(count) for count in counts)])
    table(out, "Graphs, ms, kernels chosen step by step", ["", "", *map(str, counts)], lines)


def print_streamed(r, out):
    table(out, "Products from host memory (p_opt), us",
          ["", "format", "devices", "total", "speed-up", "over baseline", "kernels", "speed-up", "merge"],
          [[short(row["matrix"]), row["format"], row["devices"], row["us"]["median"], row.get("speedup"),
            row.get("speedup_over_baseline"), row["us_of"]["kernel_alone"]["median"], row.get("kernel_speedup"),
            row["us_of"]["merge"]["median"]] for row in r.of("streamed", version="p_opt")])


def print_split(r, out):
    rows = [row for row in r.of("spmv") if row.get("asked") in ("pcsr", "pcsc", "pcoo") and not row.get("size")
            and row["devices"] > 1]
    table(out, "Equal nonzeros, us, and over one device", ["", "", "devices", "us", "kernels", "merged"],
          [[short(row["matrix"]), row["asked"], row["devices"], row["us"]["median"],
            row["speedup"] * row["us"]["median"] / row["compute_us"] if row.get("compute_us") else None,
            row["speedup"]] for row in rows if "speedup" in row])


def print_results(r, out):
    rows = [row for row in r.of("spmv") if row.get("asked") in ("nz", "2nz", "lra", "lra-rc") and row["devices"] > 1
            and row.get("limit_us") and not row.get("size")]
    table(out, "Operators that send results, us, and the fraction of their limits",
          ["", "", "", "", "devices", "us", "compute", "transfer", "of the limit"],
          [[short(row["matrix"]), row["asked"], row["format"], row["precision"], row["devices"], row["us"]["median"],
            row["compute_us"], row["transfer_us"], row["fraction_of_limit"]] for row in rows])


def print_imbalance(r, out):
    rows = r.of("imbalance")
    table(out, "Unequal rows, times as long as where loads are equal",
          ["light blocks", "devices", "ratio", "equal rows", "expected", "equal nonzeros"],
          [[f"{row['light']} of {row['blocks']}", row["devices"], row["ratio"], row["slowdown_equal_rows"],
            row["slowdown_expected"], row["slowdown_pcsr"]] for row in rows])


def print_web(r, out):
    for name, solve in sorted(r.solves.items()):
        trials = solve.get("operator_trials") or solve.get("operator_predictions") or []
        print(f"\n{name}: {solve['operator']}, {solve['iterations']} iterations of "
              f"{1e6 * (solve.get('seconds_per_iteration') or 0):.1f} us", file=out)
        wrapped(f"{solve['operator_because']}; " +
                ", ".join(f"{trial['operator']} {1e6 * trial['seconds_per_iteration']:.1f}" for trial in trials
                          if isinstance(trial, dict) and "operator" in trial and "seconds_per_iteration" in trial), out)


def print_all(r, out):
    if r.names:
        print(f"{', '.join(sorted(r.names))}\n", file=out)
    print_goals(r, out)
    for part in (print_cg, print_multigrid, print_streamed, print_split, print_results, print_families, print_web,
                 print_graphs, print_imbalance, print_preconditioners, print_right_hand_sides):
        part(r, out)
    table(out, "Steps", ["", "seconds", ""], [[step["step"], step["seconds"], step["state"]]
                                              for step in sorted(r.steps, key=lambda step: step["ended"])])
    if r.void:
        print(f"\nVoid rows, left out: {len(r.void)}", file=out)
        for text in r.void[:20]:
            wrapped(text, out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER", type=pathlib.Path)
    folders = parser.parse_args().folders
    found = runs(folders)
    if not (found.rows or found.solves or found.steps or found.void):
        print(f"several_gpus.py: no reports in {', '.join(map(str, folders))}", file=sys.stderr)
        return 2
    text = io.StringIO()
    print_all(found, text)
    print(text.getvalue(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
