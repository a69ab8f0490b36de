#!/usr/bin/env python3
"""Tests of scripts/several_gpus and its table:

    several_gpus_test.py FOLDER_OF_SCRIPTS [KRYLITH]

KRYLITH is the command with its benchmarks; without it, stand-ins take its place, and no command line is parsed.
"""
import json
import lzma
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

KRYLITH = sys.argv.pop(2) if len(sys.argv) > 2 and not sys.argv[2].startswith("several_gpus") else None
SCRIPTS = pathlib.Path(sys.argv.pop(1))

# Fails where the name of the report says so, hangs, or writes a report without rows.
STAND_IN = """#!/bin/sh
[ "$1" = bench ] || exit 0
for word; do last=$word; done
case $last in
*multigrid.json) echo 'no such device'; exit 4 ;;
*graph.json) sleep 60 ;;
*) echo '{"benchmark": "cg", "rows": []}' >"$last" ;;
esac
"""
TESTS = """#!/bin/sh
echo 'TEST CASE:  halo: loses an entry [cuda]'
echo '[doctest] test cases:  12 |  11 passed |  1 failed | 1700 skipped'
exit 1
"""


def spread(value):
    return {"median": value, "p10": value, "p90": value, "samples": 3}


def cg(matrix, devices, us, benchmark="cg", **more):
    return {"benchmark": benchmark, "rows": [
        {"matrix": f"gallery:{matrix}", "devices": devices, "solver": "krylith", "us_per_iteration": spread(us),
         "void_because": [], **more}]}


def product(matrix, operator, us, speedup, **more):
    return {"matrix": f"gallery:{matrix}", "devices": 4, "asked": operator, "us": spread(us), "speedup": speedup,
            "void_because": [], **more}


def script(folder, *options):
    return subprocess.run([str(SCRIPTS / "several_gpus"), str(folder), *options], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)


def table(reports):
    """What the table says of these reports."""
    with tempfile.TemporaryDirectory() as folder:
        for name, report in reports.items():
            (pathlib.Path(folder) / f"{name}.json.xz").write_bytes(lzma.compress(json.dumps(report).encode()))
        done = subprocess.run([sys.executable, str(SCRIPTS / "several_gpus.py"), folder], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def line_of(text, words):
    return next((line for line in text.splitlines() if line.startswith(words)), "")


class the_table(unittest.TestCase):
    def test_the_best_form_of_cg_counts(self):
        status, text = table({"a": cg("poisson3d:64", 4, 9.5), "b": cg("poisson3d:64", 4, 8.5, "cg:persistent")})
        self.assertEqual(status, 0, text)
        self.assertRegex(line_of(text, "CG 64^3"), r"8\.5 +<= 9 us +met")
        self.assertRegex(text, r"Not measured: CG 128\^3")

    def test_a_miss_says_what_the_time_is_made_of(self):
        passes = {"all": 100, "product": 60.0, "residual": 20.0, "direction": 30.0}
        status, text = table({
            "a": cg("poisson3d:256:random=1", 4, 170.0, narrow_fraction=0.0),
            "b": cg("poisson3d:256:256:64:random=1", 1, 140.0, passes_us=passes),
            "c": {"benchmark": "spmv", "rows": [product("poisson3d:256:random=1", "halo", 90.0, 3.4, compute_us=80.0)]},
            "d": {"cuda": {"all_reduce": [{"devices": 1, "seconds": 3e-6}, {"devices": 4, "seconds": 5e-6}]}}})
        self.assertEqual(status, 0, text)
        self.assertRegex(line_of(text, "CG 256^3, values read in full"), r"170 +<= 155 us +MISSED")
        for words in ("compute 140.0", "product 60.0", "ghosts 10.0", "all-reduces 4.0", "rest 16.0"):
            self.assertIn(words, " ".join(text.split()))

    def test_kernels_and_merged_products(self):
        rows = [product("poisson3d_27point:256", "pcsr", 286.0, 3.4, compute_us=250.0, transfer_us=1.0, waiting_us=2.0)]
        _, text = table({"a": {"benchmark": "spmv", "rows": rows}})
        self.assertRegex(line_of(text, "pcsr 27 points 256^3, narrowed, kernels"), r"3\.89 +>= 3\.7 x +met")
        self.assertRegex(line_of(text, "pcsr 27 points 256^3, narrowed, merged"), r"3\.4 +>= 3\.3 x +met")

    def test_auto_against_the_best_operator(self):
        rows = [product(matrix, operator, 100.0, speedup, size="medium")
                for matrix, speeds in (("kron:21", (3.0, 2.5)), ("web:9", (2.0, 2.0)))
                for operator, speedup in zip(("lra-rc", "auto"), speeds)]
        _, text = table({"a": {"benchmark": "spmv", "rows": rows, "options": {"target": 2.4}}})
        self.assertRegex(line_of(text, "lra-rc over one device"), r"2\.449 +>= 2\.4 x +met")
        self.assertIn("1.200 on kron:21", text)

    def test_void_rows_are_left_out(self):
        _, text = table({"a": cg("poisson3d:64", 4, 8.5, void_because=["the bits differ"])})
        self.assertNotIn("met", line_of(text, "CG 64^3"))
        self.assertIn("the bits differ", text)

    def test_no_reports(self):
        self.assertEqual(table({})[0], 2)


class the_script(unittest.TestCase):
    def test_a_step_that_fails_does_not_stop_the_others(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for program, text in (("krylith", STAND_IN), ("krylith-bench", STAND_IN), ("krylith_tests", TESTS)):
                (folder / program).write_text(text)
                (folder / program).chmod(0o755)
            out = folder / "out"
            done = script(out, "--krylith", str(folder / "krylith"), "--tests", str(folder / "krylith_tests"),
                          "--devices", "4", "--steps", "multigrid,graph,tests,split", "--limit", "graph=1")
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("ran out of time: multigrid (status 4); graph (out of time); tests (a check failed)\n",
                          done.stdout)
            self.assertRegex(line_of(done.stdout, "tests on all devices that failed"), r"1 +<= 0 +MISSED")
            self.assertRegex(line_of(done.stdout, "split  "), r"split +\d+ +done")
            files = sorted(path.name for path in out.iterdir())
            self.assertEqual([name.split(".")[0] for name in files if name != "gpus.csv"], ["machine", "runs", "table"])
            json.loads((out / "machine.json").read_text())
            with tarfile.open(next(out.glob("runs.tar.*"))) as archive:
                self.assertIn("runs/multigrid.log", archive.getnames())
            # A further call adds to what is there.
            again = script(out, "--krylith", str(folder / "krylith"), "--devices", "4", "--steps", "split")
            self.assertEqual(again.returncode, 0, again.stdout)
            self.assertRegex(line_of(again.stdout, "multigrid  "), r"multigrid +\d+ +status 4")

    def test_what_is_refused(self):
        for options, words in ((("--steps", "cg,no"), "unknown step 'no'"), (("--limit", "cg=x"), "--limit has 'cg=x'"),
                               (("--backend", "tpu"), "allowed are cuda, host"), (("--krylith", "/no"), "no program")):
            done = script("unused", "--devices", "2", *options)
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stdout)
        self.assertFalse(os.path.exists("unused"))

    @unittest.skipIf(KRYLITH is None, "needs the command")
    def test_steps_on_host_devices(self):
        """Those that take seconds on a busy machine."""
        with tempfile.TemporaryDirectory() as name:
            done = script(name, "--krylith", KRYLITH, "--backend", "host", "--small", "--devices", "2", "--steps",
                          "multigrid,streamed,web,imbalance,right-hand-sides")
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertNotIn("Void rows", done.stdout)
            for words in ("CG with amg from rows", "Products from host memory", "web_auto: ", "web_measured: ",
                          "Unequal rows", "Several right-hand sides"):
                self.assertIn(words, done.stdout)

    @unittest.skipIf(KRYLITH is None, "needs the command")
    def test_command_lines_for_gpus_are_parsed(self):
        """Without GPUs commands fail at the devices (4), not as usage (2)."""
        printed = script("unused", "--krylith", KRYLITH, "--tests", sys.executable, "--devices", "8", "--print").stdout
        lines = [line for line in printed.splitlines() if not line.startswith(("#", "env "))]
        self.assertGreater(len(lines), 20)
        hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
        for line in lines:
            with tempfile.TemporaryDirectory() as folder:
                command = line.replace(line.split(" --report ")[1].split("/runs/")[0] + "/runs", folder)
                done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                      check=False, env=hidden)
            self.assertEqual(done.returncode, 4, f"{line}\n{done.stdout}")


if __name__ == "__main__":
    unittest.main()
