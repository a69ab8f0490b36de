#!/usr/bin/env python3
"""Tests of tools/train_kernel_models.py on measurements that follow a rule:

    train_test.py FOLDER_OF_TOOLS

Training needs NumPy and scikit-learn; without them the test says that nothing was trained.
"""
import gzip
import importlib.util
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path("tools")
KERNELS = ["spmv", "spmv-balanced", "row", "row-balanced", "column-atomic", "column-sort",
           "column-balanced-atomic", "column-balanced-sort"]


def python_that_trains():
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            if subprocess.run([python, "-c", "import numpy, sklearn"], capture_output=True,
                              check=False).returncode == 0:
                return python
        except OSError:
            pass
    return None


PYTHON = python_that_trains()


def header(**more):
    return {"program": "bench_spmspv", "architecture": "host", "device": "a test", "kernels": KERNELS,
            "precision": "fp32", "semiring": "plus-times", "model_file": "", **more}


def matrix(name, rows, gini):
    return {"matrix": name, "features": {"rows": rows, "columns": rows, "nonzeros": 10 * rows, "longest_row": 20,
                                         "shortest_row": 0, "mean_row": 10, "relative_range": 0.01,
                                         "deviation": 1, "gini": gini}}


def product(name, rows, gini, ratio):
    """Columns cost five times as much a nonzero; what is uneven takes twice as long unless balanced."""
    all_us, work = 0.1 * rows, 10 * rows * ratio
    column, row = 0.05 * work, 0.8 * all_us
    slow = 2 if gini > 0.5 else 0.9
    us = [all_us * slow, all_us, 3 * row, 3 * row, column * slow, 3 * column, column, 3 * column]
    times = {given: {wanted: us for wanted in ("pairs", "dense")} for given in ("pairs", "dense", "bits")}
    return {"matrix": name, "vector": "random", "entries": int(rows * ratio), "work": int(work), "count_us": 1.0,
            "us": times, "void_because": []}


def run_of(matrices=60):
    chance = random.Random(1)
    lines = [header()]
    for k in range(matrices):
        rows, gini = chance.choice([20000, 50000, 100000]), chance.random()
        name = f"gallery:{chance.choice(['web', 'rmat', 'road'])}:{k}"
        lines.append(matrix(name, rows, gini))
        lines += [product(name, rows, gini, chance.random() ** 2) for _ in range(10)]
    return lines


class train_test(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.here = pathlib.Path(self.folder.name)

    def file(self, name, lines):
        path = self.here / name
        text = "".join(json.dumps(line) + "\n" for line in lines)
        if name.endswith(".gz"):
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_text(text)
        return str(path)

    def train(self, *arguments):
        return subprocess.run([PYTHON or sys.executable, str(TOOLS / "train_kernel_models.py"), *arguments,
                               "--date", "2026-01-01"], capture_output=True, text=True, check=False)

    def need_trainer(self):
        if PYTHON is None:
            print("nothing was trained: no Python here has NumPy and scikit-learn")
        return PYTHON is not None

    def test_the_rule_is_found(self):
        if not self.need_trainer():
            return
        run = self.train(self.file("run.jsonl.gz", run_of()), "--quick", "--model", str(self.here / "model.txt"),
                         "--report", str(self.here / "report"))
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads((self.here / "report" / "report.json").read_text())
        for name in ("pattern", "row_distribution", "column_distribution", "write_back"):
            self.assertGreater(report["models"][name]["classifiers"]["tree"]["right"], 0.95, name)
        trees = report["losses"]["cascade of trees"]["mean"]
        self.assertLess(trees, 0.02)
        fixed = next(l["mean"] for name, l in report["losses"].items() if name.startswith("best fixed"))
        self.assertGreater(fixed, 10 * trees)
        self.assertEqual(report["held_out"], 15)
        self.assertIn("| pattern | tree |", (self.here / "report" / "report.md").read_text())
        model = (self.here / "model.txt").read_text().splitlines()
        self.assertEqual(model[:3], ["krylith kernel model 1", "architecture host", "name a test"])
        at = model.index("tree pattern")
        self.assertRegex(model[at + 1], r"^node (effective_ratio|density) 0\.\d+ 1 2$")
        self.assertAlmostEqual(float(model[at + 1].split()[2]), 0.2, delta=0.05)
        self.assertEqual(model[model.index("tree write_back") + 1:], ["leaf atomic"])
        for line in model:
            if line.startswith("node"):
                self.assertEqual(len(line.split()), 5)

    def test_the_same_every_time(self):
        if not self.need_trainer():
            return
        path = self.file("run.jsonl", run_of(20))
        texts = []
        for name in ("a", "b"):
            self.assertEqual(self.train(path, "--quick", "--model", str(self.here / name)).returncode, 0)
            texts.append((self.here / name).read_text())
        self.assertEqual(*texts)

    def test_void_rows_are_left_out(self):
        if not self.need_trainer():
            return
        lines = run_of(20)
        lines[2]["void_because"] = ["wrong"]
        lines[2]["us"] = {}
        run = self.train(self.file("run.jsonl", lines), "--quick", "--model", str(self.here / "m"), "--report",
                         str(self.here))
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads((self.here / "report.json").read_text())
        self.assertEqual((report["void"], report["samples"]), (1, 6 * 199))

    def test_nothing_is_said_of_what_is_not_held_out(self):
        if not self.need_trainer():
            return
        lines = [header()]
        for k in range(8):  # columns pay for the first two alone, which the shuffle trains with
            gini, ratio = (0.2, 0.8)[k % 2], 0.05 if k < 2 else 1
            lines += [matrix(f"gallery:web:{k}", 20000, gini), product(f"gallery:web:{k}", 20000, gini, ratio)]
        run = self.train(self.file("run.jsonl", lines), "--quick", "--model", str(self.here / "m"), "--report",
                         str(self.here))
        self.assertEqual(run.returncode, 0, run.stderr)
        models = json.loads((self.here / "report.json").read_text())["models"]
        self.assertEqual(models["column_distribution"]["confusion"], [[0, 0], [0, 0]])
        self.assertIsNone(models["column_distribution"]["classifiers"]["tree"]["right"])
        self.assertIn("| column_distribution | tree | - | - | - |", run.stdout)

    def test_a_run_in_shares(self):
        if not self.need_trainer():
            return
        lines = run_of(20)
        shares = []
        for first in range(3):  # each matrix is followed by its ten products
            share = [line for k, line in enumerate(lines[1:]) if k // 11 % 3 == first]
            shares.append(self.file(f"measured.{first}.jsonl", [header(device=f"a test {first}"), *share]))
        run = self.train(*shares, "--quick", "--model", str(self.here / "m"), "--report", str(self.here))
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads((self.here / "report.json").read_text())
        self.assertEqual((report["matrices"], report["held_out"], report["samples"]), (20, 5, 6 * 200))
        self.assertTrue(run.stdout.startswith("# Kernel model of a test 0"), run.stdout)

    def refused(self, words, *arguments):
        run = self.train(*arguments, "--model", str(self.here / "model.txt"))
        self.assertEqual(run.returncode, 2, run.stdout)
        self.assertIn(words, run.stderr)
        self.assertFalse((self.here / "model.txt").exists())

    def test_what_can_not_be_trained_with(self):
        if not self.need_trainer():
            return
        self.refused("can't read", str(self.here / "missing.jsonl"))
        self.refused("is not JSON lines", self.text("x{"))
        self.refused("line 1: must be a JSON object", self.text("[1]"))
        self.refused("is no run of bench_spmspv", self.file("other.jsonl", [{"program": "bench_cg"}]))
        anonymous = {field: value for field, value in header().items() if field != "device"}
        self.refused("the first line has no 'device'", self.file("anonymous.jsonl", [anonymous]))
        self.refused("kernels are", self.file("kernels.jsonl", [header(kernels=["a"])]))
        self.refused("there are 0 matrices", self.file("empty.jsonl", [header()]))
        self.refused("line 2: no 'nowhere'", self.file("lost.jsonl", [header(), product("nowhere", 10, 0, 0.5)]))
        for us in ([1.0] * 7, [1.0] * 7 + [0], [1.0] * 7 + [None]):
            odd = {**product("m", 10, 0, 0.5), "us": {"pairs": {"pairs": us}}}
            self.refused("line 3: ", self.file("odd.jsonl", [header(), matrix("m", 10, 0), odd]))
        self.refused("several architectures", self.file("a.jsonl", run_of(10)),
                     self.file("b.jsonl", [header(architecture="cuda:sm_90")]))
        self.refused("--plot needs --report", self.file("c.jsonl", run_of(10)), "--plot")

    def text(self, text):
        path = self.here / "text.jsonl"
        path.write_text(text)
        return str(path)

    def test_features_are_those_of_the_library(self):
        sys.dont_write_bytecode = True
        spec = importlib.util.spec_from_file_location("trainer", TOOLS / "train_kernel_models.py")
        trainer = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(trainer)
        header_text = (TOOLS.parent / "spmv/spmspv/matrix_features.hpp").read_text()
        names = header_text[header_text.index("feature_names ="):]
        names = names[names.index("{") + 1:names.index("}")]
        self.assertEqual(trainer.FEATURES, [n.strip().strip('"') for n in names.split(",")])
        kernels = (TOOLS.parent / "spmv/spmspv/kernel_name.hpp").read_text()
        kernels = kernels[kernels.index("kernel_names ="):]
        kernels = kernels[kernels.index("{") + 1:kernels.index("}")]
        self.assertEqual(trainer.KERNELS, [n.strip().strip('"') for n in kernels.split(",")])


if __name__ == "__main__":
    unittest.main()
