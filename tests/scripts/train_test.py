#!/usr/bin/env python3
"""Tests of tools/train/train_kernel_models.py on measurements that follow a rule:

    train_test.py FOLDER_OF_TRAINER

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

TOOLS = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path("tools/train")
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
if PYTHON not in (None, sys.executable):  # some tests call the trainer's functions
    sys.exit(subprocess.run([PYTHON, __file__, str(TOOLS), *sys.argv[1:]], check=False).returncode)


def header(**more):
    return {"benchmark": "spmspv", "architecture": "host", "device": "a test", "kernels": KERNELS,
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
        for case in ("known", "unknown"):
            found = report["cases"][case]
            for name in ("pattern", "row_distribution", "column_distribution", "write_back"):
                self.assertGreater(found["models"][name]["classifiers"]["tree"]["right"], 0.95, (case, name))
            trees = found["losses"]["cascade of trees"]["mean"]
            self.assertLess(trees, 0.02)
            fixed = next(l["mean"] for name, l in found["losses"].items() if name.startswith("best fixed"))
            self.assertGreater(fixed, 10 * trees)
            self.assertEqual((found["asks_for_work"], found["selection"]), (0, 0))
            self.assertLess(found["losses"]["cascade of support vectors"]["mean"], 0.2)
            self.assertEqual(list(found["prediction_us"]), ["tree", "random forest", "gradient boosting",
                                                            "support vectors"])
            self.assertTrue(all(us["of_many"] > 0 and us["alone"] > us["of_many"]
                                for us in found["prediction_us"].values()), found["prediction_us"])
            for told_by in found["importance"].values():
                for shares in told_by.values():
                    self.assertIn(round(sum(shares.values()), 6), (0, 1))
            # The rule goes by the ratio and, for the distribution, by gini alone.
            of_rows = found["importance"]["row_distribution"]["tree"]
            self.assertGreater(of_rows["gini"], 0.9)
            ratio = "effective_ratio" if case == "known" else "density"
            self.assertGreater(found["importance"]["pattern"]["chi2"][ratio], 0.1)
            self.assertEqual("effective_ratio" in found["importance"]["pattern"]["chi2"], case == "known")
        self.assertEqual(report["held_out"], 15)
        text = (self.here / "report" / "report.md").read_text()
        self.assertEqual(text.count("| pattern | tree |"), 2)
        for line in ("| where effective nonzeros are known | ", "| where nobody knows them | "):
            self.assertEqual(text.count(line), 1)
        self.assertIn("trees guess, and count never", text)
        model = (self.here / "model.txt").read_text().splitlines()
        self.assertEqual(model[:3], ["krylith kernel model 1", "architecture host", "name a test"])
        at = model.index("tree pattern")
        tree = model[at + 1:model.index("tree row_distribution")]
        knowing = int(tree[0].split()[-1])
        self.assertEqual(tree[0], f"node knows_work 0.5 1 {knowing}")
        self.assertNotIn("effective", " ".join(tree[:knowing]))
        for knows in (0, 1):
            for ratio, right in ((0.02, "column"), (0.1, "column"), (0.3, "spmv"), (0.9, "spmv")):
                nonzeros = ratio * 5e5
                values = {"knows_work": knows, "density": ratio, "effective_ratio": ratio, "rows": 5e4, "columns": 5e4,
                          "nonzeros": 5e5, "entries": ratio * 5e4, "effective_nonzeros": nonzeros, "gini": 0.7,
                          "expected_nonzeros": nonzeros, "most_nonzeros": min(2 * nonzeros, 5e5)}
                self.assertEqual(self.label(tree, values), right, (knows, ratio))
        self.assertEqual(model[model.index("tree write_back") + 1:], ["leaf atomic"])
        for line in model:
            if line.startswith("node"):
                self.assertEqual(len(line.split()), 5)

    @staticmethod
    def label(tree, values):
        """What lines of a tree say; features that are not told are 0."""
        words = tree[0].split()
        while words[0] == "node":
            below = values.get(words[1], 0) <= float(words[2])
            words = tree[int(words[3] if below else words[4])].split()
        return words[1]

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
        models = json.loads((self.here / "report.json").read_text())["cases"]["known"]["models"]
        self.assertEqual(models["column_distribution"]["confusion"], [[0, 0], [0, 0]])
        self.assertIsNone(models["column_distribution"]["classifiers"]["tree"]["right"])
        self.assertIn("| column_distribution | tree | - | - | - |", run.stdout)

    def again(self, lines, kernels, factor=1.0, **more):
        """The same products, some kernels measured again."""
        places = [KERNELS.index(k) for k in kernels]
        out = [header(kernels=kernels, **more)]
        for line in lines[1:]:
            if "us" in line:
                line = {**line, "us": {given: {wanted: [factor * us[p] for p in places] for wanted, us in t.items()}
                                       for given, t in line["us"].items()}}
            out.append(line)
        return out

    def test_some_kernels_measured_again_replace_their_times(self):
        if not self.need_trainer():
            return
        two = ["spmv-balanced", "row-balanced"]
        lines = run_of(20)
        slow = json.loads(json.dumps(lines))
        for line in slow[1:]:
            for times in line.get("us", {}).values():
                for us in times.values():
                    us[1] *= 50
                    us[3] *= 50
        new = self.file("a_new.jsonl", self.again(lines, two))
        texts = []
        for name, files in (("straight", [self.file("straight.jsonl", lines)]),
                            ("merged", [new, self.file("slow.jsonl", slow)])):  # in whatever order
            run = self.train(*files, "--quick", "--model", str(self.here / name), "--report", str(self.here))
            self.assertEqual(run.returncode, 0, run.stderr)
            texts.append((self.here / name).read_text())
        self.assertEqual(*texts)
        report = json.loads((self.here / "report.json").read_text())
        self.assertEqual((report["again"], report["stale"]), (two, 0))
        self.assertIn("Measured again, later: spmv-balanced, row-balanced; 0 vectors without new times and 0 without",
                      run.stdout)

    def test_what_was_not_measured_again_is_left_out(self):
        if not self.need_trainer():
            return
        lines = run_of(20)
        own = [header(), matrix("mine.mtx", 20000, 0.2), product("mine.mtx", 20000, 0.2, 0.5)]
        again = self.again(lines[:-5], ["row"])  # five products short; and nothing of another run
        run = self.train(self.file("all.jsonl", lines), self.file("own.jsonl", own), self.file("again.jsonl", again),
                         "--quick", "--model", str(self.here / "m"), "--report", str(self.here))
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads((self.here / "report.json").read_text())
        self.assertEqual((report["stale"], report["samples"], report["matrices"]), (5, 6 * 196, 21))

    def test_what_only_some_kernels_were_measured_on_is_left_out(self):
        if not self.need_trainer():
            return
        lines = run_of(20)
        short = lines[:-14]  # without the last matrix, and three products of the one before
        run = self.train(self.file("all.jsonl", short), self.file("again.jsonl", self.again(lines, ["row"])),
                         "--quick", "--model", str(self.here / "m"), "--report", str(self.here))
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads((self.here / "report.json").read_text())
        self.assertEqual((report["stale"], report["alone"], report["samples"]), (0, 13, 6 * 187))

    def test_measured_again_what_does_not_fit_is_refused(self):
        if not self.need_trainer():
            return
        lines = run_of(10)
        base = self.file("base.jsonl", lines)

        def with_second(**more):
            return [lines[0], lines[1], {**lines[2], **more}]

        one = ["row"]
        self.refused("there is no run of all kernels, only of some", self.file("b.jsonl", self.again(lines, one)))
        self.refused(f"{lines[1]['matrix']} has a random vector of {lines[2]['entries']} entries and "
                     f"{lines[2]['work'] + 1} effective nonzeros that no run of all kernels has, and lacks their "
                     f"random one of {lines[2]['entries']} and {lines[2]['work']}: not the same vectors", base,
                     self.file("c.jsonl", self.again([*with_second(work=lines[2]["work"] + 1), *lines[3:]], one)))
        self.refused("not the same vectors", base,
                     self.file("d.jsonl", self.again([*with_second(vector="frontier"), *lines[3:]], one)))
        self.refused("none of its products (plus-times fp64) is in a run of all kernels", base,
                     self.file("e.jsonl", self.again(lines, one, precision="fp64")))
        self.refused("line 4: ", base, self.file("f.jsonl", self.again([*lines[:3], lines[2]], one)))
        self.refused("clock and quantile are ['processor', None], must be those of", base,
                     self.file("g.jsonl", self.again(lines, one, clock="processor")))
        other = matrix(lines[1]["matrix"], 77, 0.1)
        self.refused("not the same matrix", base, self.file("h.jsonl", self.again([lines[0], other], one)))
        fewer = {**lines[2], "us": {"pairs": lines[2]["us"]["pairs"]}}
        self.refused("has times for other forms", base,
                     self.file("i.jsonl", self.again([lines[0], lines[1], fewer], one)))
        self.refused("must be 1 numbers above 0", base,
                     self.file("j.jsonl", [header(kernels=one), lines[1], lines[2]]))
        self.refused("or some of them in this order", base, self.file("k.jsonl", [header(kernels=["row", "spmv"])]))
        self.refused("several architectures", base,
                     self.file("l.jsonl", [header(kernels=one, architecture="cuda:sm_90")]))

    def test_a_sort_pays_for_the_number_that_nobody_knows(self):
        if not self.need_trainer():
            return
        trainer = self.trainer()
        trainer.libraries()
        numpy = trainer.np
        lines = [header()]
        for k in range(8):
            lines += [matrix(f"m{k}", 20000, 0.5), product(f"m{k}", 20000, 0.5, 1 if k == 3 else 0.1)]
        data = trainer.samples([self.file("run.jsonl", lines)])
        more = data.where_nobody_knows().us - data.us
        sorts = [k for k, name in enumerate(KERNELS) if name.endswith("sort")]
        full = data.group == 3
        self.assertTrue(full.any())
        numpy.testing.assert_allclose(more[~full][:, sorts], 1)
        more[:, sorts] -= 1
        numpy.testing.assert_allclose(more[~full], 0)
        numpy.testing.assert_allclose(more[full][:, [0, 1, 2, 3, 4, 6]], 0)
        sort, atomic = ({name: trainer.constant(label) for name, label in
                         (("pattern", 2), ("row_distribution", 0), ("column_distribution", 0), ("write_back", w))}
                        for w in (1, 0))
        at = numpy.arange(len(data.us))
        for guessing, known, asked in ((sort, False, ~full), (sort, True, full & ~full), (atomic, False, full & ~full)):
            found = trainer.pair(guessing, guessing, None).asks(data, at, known)
            self.assertEqual(found.tolist(), asked.tolist())

    def test_the_gate_asks_only_where_counting_is_cheap(self):
        if not self.need_trainer():
            return
        trainer = self.trainer()
        trainer.libraries()
        numpy = trainer.np

        class data:
            expected = numpy.geomspace(1, 1e7, 1000)
            count_us = numpy.full(1000, 10.0)
            best = 1 + 1e-5 * expected

            def told(self):
                return self.expected < 0

            def of(self, feature):
                return {"expected_nonzeros": self.expected, "entries": self.expected / 10}[feature]

        at = numpy.arange(1000)
        self.assertIsNone(trainer.find_gate(data(), at, numpy.zeros(1000)))
        for saved in (0.02, 0.1, 5.0):
            expected, mean_row = trainer.find_gate(data(), at, numpy.full(1000, saved))
            share = 10 / (1e-5 * expected)
            self.assertLessEqual(share, min(saved / 2, 0.05))
            self.assertAlmostEqual(share, min(saved / 2, 0.05) / 2, delta=0.1 * share)
            self.assertAlmostEqual(mean_row, 0, delta=1e-3)

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
        self.refused("is no run of krylith bench spmspv", self.file("other.jsonl", [{"benchmark": "cg"}]))
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

    @staticmethod
    def trainer():
        sys.dont_write_bytecode = True
        spec = importlib.util.spec_from_file_location("trainer", TOOLS / "train_kernel_models.py")
        trainer = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(trainer)
        return trainer

    def test_features_are_those_of_the_library(self):
        trainer = self.trainer()
        header_text = (TOOLS.parent.parent / "spmspv/csr_csc_pair/matrix_features.hpp").read_text()
        names = header_text[header_text.index("feature_names ="):]
        names = names[names.index("{") + 1:names.index("}")]
        self.assertEqual(trainer.FEATURES, [n.strip().strip('"') for n in names.split(",")])
        kernels = (TOOLS.parent.parent / "spmspv/product/kernel_name.hpp").read_text()
        kernels = kernels[kernels.index("kernel_names ="):]
        kernels = kernels[kernels.index("{") + 1:kernels.index("}")]
        self.assertEqual(trainer.KERNELS, [n.strip().strip('"') for n in kernels.split(",")])


if __name__ == "__main__":
    unittest.main()
