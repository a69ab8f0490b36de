#!/usr/bin/env python3
"""Tests of scripts/compare and scripts/plot:

    runs_test.py FOLDER_OF_SCRIPTS [KRYLITH]

KRYLITH is the command with its benchmarks; with it, pictures are also drawn of what it measures here.
"""
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

KRYLITH = sys.argv.pop(2) if len(sys.argv) > 2 else None
SCRIPTS = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path("scripts")


def product(operator, devices, us, **more):
    row = {"matrix": "gallery:poisson3d:40", "family": "poisson3d", "size": "tiny",
           "devices": devices, "operator": operator, "asked": operator, "format": "csr",
           "backend": "host", "us": {"median": us, "p10": us, "p90": us, "samples": 1},
           "void_because": []}
    if devices > 1:
        row.update(speedup=100 / us, fraction_of_limit=0.5)
    return {**row, **more}


def spread(us):
    return {"median": us, "p10": us, "p90": us, "samples": 1}


def streamed(version, devices, form="csr"):
    phases = {"partition": 1, "distribution": 90 / devices, "kernel": 5, "merge": 4}
    return {"matrix": "gallery:rmat:14", "format": form, "version": version, "devices": devices,
            "pinned": True, "us": spread(sum(phases.values())),
            "us_of": {name: spread(us) for name, us in phases.items()}, "void_because": []}


def two_loads(light, ratio, slowdown):
    return {"matrix": f"two_loads:{light}:{ratio}", "devices": 4, "blocks": 4, "light": light,
            "ratio": ratio, "us_equal_rows": spread(9 * slowdown), "us_pcsr": spread(9),
            "slowdown_equal_rows": slowdown, "slowdown_pcsr": 1.0, "void_because": []}


def sparse(matrix, nnz, ms, kernel="transpose", variant="with values", **more):
    return {"matrix": f"gallery:{matrix}", "family": matrix.split(":")[0], "size": "", "devices": 1,
            "nnz": nnz, "skew": 0.5, "spread": 0.1, "kernel": kernel, "variant": variant,
            "peer": "cusparse", "ms": {"median": ms, "least": ms}, "gnnz_per_s": 1e-6 * nnz / ms,
            "peer_ms": 2 * ms, "speedup": 2.0, "void_because": [], **more}


def walk(contestant, algorithm="bfs", devices=1, ms=1.0, **more):
    """A row of graph."""
    steps = [{"entries": 1, "frontier_nonzeros": 3, "kernels": ["column-sort"], "us": 20.0},
             {"entries": 9, "frontier_nonzeros": 90, "kernels": ["row"], "us": 60.0}]
    return {"matrix": "gallery:kron:5", "family": "kron", "size": "", "algorithm": algorithm,
            "devices": devices, "contestant": contestant, "ms": {"median": ms}, "void_because": [],
            **({"by_step": steps} if contestant in ("adaptive", "cusparse") else {}), **more}


def module_of(script):
    loader = importlib.machinery.SourceFileLoader(script.name, str(script))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(script.name, loader))
    loader.exec_module(module)
    return module


class runs_test(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.here = pathlib.Path(self.folder.name)

    def file(self, name, rows, benchmark="spmv"):
        path = self.here / name
        path.write_text(json.dumps({"benchmark": benchmark, "rows": rows}))
        return str(path)

    def run_script(self, *arguments):
        return subprocess.run([sys.executable, str(SCRIPTS / arguments[0]), *arguments[1:]],
                              capture_output=True, text=True, check=False)

    def refused(self, words, *arguments):
        run = self.run_script(*arguments)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertIn(words, run.stderr)
        self.assertNotIn("Traceback", run.stderr)

    def test_compare_marks_what_differs(self):
        a = self.file("a.json", [product("nz", 2, 100), product("halo", 2, 100),
                                 product("allgather", 2, 100), product("lra", 2, 1)])
        b = self.file("b.json", [product("nz", 2, 102), product("halo", 2, 110),
                                 product("allgather", 2, 80)])
        run = self.run_script("compare", a, b)
        self.assertEqual(run.returncode, 0, run.stderr)
        lines = run.stdout.splitlines()
        self.assertTrue(lines[1].endswith("1.020"))
        self.assertTrue(lines[2].endswith("1.100  slower"))
        self.assertTrue(lines[3].endswith("0.800  faster"))
        self.assertEqual(lines[4], "3 cases compared; 0 void in one or both, 1 only in A, 0 only in B")
        self.assertEqual(self.run_script("compare", a, b, "--fail-above", "11").returncode, 0)
        self.assertEqual(self.run_script("compare", a, b, "--fail-above", "9").returncode, 1)

    def test_compare_void_rows(self):
        a = self.file("a.json", [product("nz", 2, 100), product("halo", 2, 1, void_because=["x"])])
        b = self.file("b.json", [product("nz", 2, 100, void_because=["y"]), product("halo", 2, 9)])
        run = self.run_script("compare", a, b)
        self.assertEqual(run.returncode, 0)
        self.assertIn("0 cases compared; 2 void", run.stdout)
        self.assertEqual(self.run_script("compare", a, b, "--fail-above", "5").returncode, 1)

    def test_compare_more_is_better_for_readers(self):
        row = {"matrix": "m", "order": "sorted", "reader": "krylith", "void_because": []}
        a = self.file("a.json", [{**row, "mb_per_s": {"median": 100}}], "read")
        b = self.file("b.json", [{**row, "mb_per_s": {"median": 80}}], "read")
        run = self.run_script("compare", a, b, "--fail-above", "20")
        self.assertEqual(run.returncode, 1)
        self.assertIn("slower", run.stdout)

    def test_compare_one_shot_products_by_version(self):
        a = self.file("a.json", [streamed("p", 4), streamed("p_opt", 4)], "streamed")
        b = self.file("b.json", [streamed("p_opt", 4)], "streamed")
        run = self.run_script("compare", a, b, "--fail-above", "1")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("1 cases compared; 0 void in one or both, 1 only in A", run.stdout)
        a = self.file("a.json", [two_loads(1, 0.5, 1.2)], "imbalance")
        self.assertIn("1 cases compared", self.run_script("compare", a, a).stdout)

    def test_compare_solvers(self):
        row = {"matrix": "m", "devices": 1, "solver": "krylith", "backend": "host",
               "us_per_iteration": spread(9), "void_because": []}
        a, b = self.file("a.json", [row], "cg"), self.file("b.json", [row], "cg:launched")
        self.assertIn("1 cases compared", self.run_script("compare", a, b).stdout)

    def test_compare_refuses(self):
        a = self.file("a.json", [product("nz", 2, 100)])
        other = self.file("cg.json", [], "cg")
        (self.here / "text.json").write_text("no")
        self.refused("is of spmv", "compare", a, other)
        self.refused("can't read", "compare", a, str(self.here / "nowhere.json"))
        self.refused("is not JSON", "compare", a, str(self.here / "text.json"))
        self.refused("no case in common", "compare", a, self.file("b.json", [product("nz", 4, 1)]))
        self.refused("row 0 has no us.median", "compare", a,
                     self.file("c.json", [{"matrix": "m", "void_because": []}]))
        self.refused("not 0 or more", "compare", a, a, "--fail-above", "-1")

    def test_plot_refuses(self):
        out = str(self.here / "out")
        self.refused("can't read", "plot", str(self.here / "nowhere.json"), out)
        self.refused("no keys 'benchmark' and 'rows'", "plot", self.file_of("{}"), out)
        self.refused("allowed are graph, spmv, cg, gmres, bicgstab, streamed, imbalance, sparse, spmspv", "plot",
                     self.file("r.json", [], "read"), out)
        self.refused("no row to draw", "plot",
                     self.file("v.json", [product("nz", 2, 1, void_because=["x"])]), out)
        self.refused("is no list of counts", "plot", "a.json", out, "--devices", "two")

    def file_of(self, text):
        path = self.here / "odd.json"
        path.write_text(text)
        return str(path)

    def test_plot_draws(self):
        rows = [product("halo", 1, 100)] + [product(o, d, 100 / d) for o in ("nz", "halo", "allgather")
                                            for d in (2, 4)]
        run = self.file("run.json", rows)
        if importlib.util.find_spec("matplotlib") is None:
            print("nothing drawn: matplotlib is missing")
            self.refused("matplotlib is missing", "plot", run, str(self.here / "out"))
            return
        for form in ("svg", "png"):
            done = self.run_script("plot", run, str(self.here / form), "--format", form)
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in ("speedup", "limit", "time"):
                self.assertGreater((self.here / form / f"{name}.{form}").stat().st_size, 1000)
        streamed_rows = self.file("m.json", [streamed(v, d, f) for v in ("baseline", "p", "p_opt")
                                     for d in (1, 4) for f in ("csr", "csc")], "streamed")
        loads = self.file("i.json", [two_loads(0, 1, 1.0)] +
                          [two_loads(k, r, 4 / (4 - k + k * r)) for k in (1, 2, 3)
                           for r in (0.1, 0.5)], "imbalance")
        sparse_x = self.here / "x.json"  # the head, what the matrix is like, and a line a vector
        sparse_x.write_text("".join(json.dumps(line) + "\n" for line in (
            {"benchmark": "spmspv", "kernels": ["spmv", "row"]}, {"matrix": "m", "features": {"columns": 9}},
            *({"matrix": "m", "vector": "random", "entries": n, "us": {"pairs": {"pairs": [3, n], "dense": [2, 5]}},
               "void_because": []} for n in (1, 9)))))
        faster = {"cusparse": 3.1, "best_switch": 1.2, "best_kernel": 1.5}
        walks = self.file("g.json", [walk("adaptive", speedup=faster), walk("row", ms=2),
                                     walk("cusparse", ms=3), walk("adaptive", "sssp", 2)],
                          "graph")
        judged = {"right": 0.9, "strictly": 0.8, "loss": 0.02, "losses": {"spmv": 1.5, "row": 0.5},
                  "parts_us": {"features": 0, "model": 1, "conversions": 2, "kernel": 30}}
        choices = self.file("c.json", [walk("oracle", **judged), walk("oracle", "pagerank", 2, **judged)], "graph")
        kernels = self.file("k.json", [sparse("poisson3d:8", 3000, 0.1), sparse("kron:5", 900, 0.2),
                                       sparse("kron:5", 900, 0.3, "spgemm", "", gflops=4.5, gb_per_s=7)], "sparse")
        for file, *names in ((streamed_rows, "phases"), (str(sparse_x), "kernels", "patterns", "distributions", "write_backs"), (loads, "imbalance"),
                             (kernels, "rates_transpose", "rates_spgemm", "bandwidth_spgemm", "gain_spgemm",
                              "gain_transpose", "speedup"),
                             (choices, "choice_bfs", "parts_bfs", "choice_pagerank", "parts_pagerank"),
                             (walks, "speedup_bfs", "steps_bfs", "steps_sssp")):
            done = self.run_script("plot", file, str(self.here / names[0]))
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in names:
                self.assertGreater((self.here / names[0] / f"{name}.svg").stat().st_size, 1000)
        self.refused("no row has light blocks", "plot",
                     self.file("b.json", [two_loads(0, 1, 1.0)], "imbalance"),
                     str(self.here / "out"))
        del rows[1]["speedup"]
        self.refused("has no 'speedup'", "plot", self.file("old.json", rows), str(self.here / "out"))

    @unittest.skipIf(KRYLITH is None, "no command with benchmarks was named")
    def test_plot_draws_what_bench_sparse_measures(self):
        """On host devices, whatever is there: the keys that pictures need are those of the report."""
        report = self.here / "sparse.json"
        matrices = [f"gallery:{m}" for m in ("poisson3d:6:random=1", "kron:6", "random:200:5")]
        done = subprocess.run([KRYLITH, "bench", "sparse", *matrices, "--backend", "host", "--threads", "1",
                               "--repeats", "1", "--report", str(report)], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("auto on 3 matrices: loses at most", done.stdout)
        run = json.loads(report.read_text())
        kernels = {row["kernel"] for row in run["rows"]}
        self.assertLessEqual({"transpose", "spgemm", "triangular", "formats"}, kernels)
        plot = module_of(SCRIPTS / "plot")
        for row in run["rows"]:
            for key in [axis for axis, _, _ in plot.AXES]:
                self.assertIsInstance(plot.need(row, key), (int, float))
            self.assertGreater(plot.need(row, "ms", "median"), 0)
            self.assertGreater(plot.need(row, plot.arithmetic([row])), 0)
            if row["kernel"] == "formats":
                self.assertGreater(plot.need(row, "gb_per_s"), 0)
                self.assertGreater(plot.need(row, "gflops"), 0)
        self.assertLessEqual({"mean_speedup", "least_speedup_of", "mean_loss", "largest_loss_of"},
                             set(run["summary"]))
        if importlib.util.find_spec("matplotlib") is None:
            print("nothing drawn: matplotlib is missing")
            return
        out = self.here / "figures"
        done = self.run_script("plot", str(report), str(out))
        self.assertEqual(done.returncode, 0, done.stderr)
        wanted = {f"{what}_{kernel}.svg" for kernel in ("transpose", "spgemm", "triangular", "formats")
                  for what in ("rates", "bandwidth", "gain")}
        self.assertLessEqual(wanted | {"speedup.svg"}, {path.name for path in out.iterdir()})
        formats = (out / "rates_formats.svg").read_text()
        for word in ("GFLOP/s", "nonzeros", "skew", "distance from the diagonal", "formats, auto"):
            self.assertIn(word, formats)


if __name__ == "__main__":
    unittest.main()
