#!/usr/bin/env python3
"""Tests of scripts/collection: collection_test.py FOLDER_OF_SCRIPTS KRYLITH, the command with its benchmarks"""
import csv
import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

KRYLITH = sys.argv.pop(2)
SCRIPTS = pathlib.Path(sys.argv.pop(1))

# Knows one matrix; formats takes a minute in a process of its own, the other steps end each in another way.
STAND_IN = """#!/bin/sh
echo "$*" >>{here}/calls
for word; do last=$word; done
case "$*" in
*--help) ;;
info*) echo '{{"matrix": {{"rows": 4, "columns": 4, "nnz": 9}}}}' >"$last" ;;
*formats*) sleep 60 & echo $! >{here}/child; wait ;;
*spmspv*) kill -SEGV $$ ;;
*graph*) echo '{{"benchmark": "graph", "rows": [{{"matrix": "m", "void_because": ["bits differ"]}}]}}' >"$last"; exit 1 ;;
solve*) echo 'krylith: it is too large for the memory' >&2; exit 3 ;;
esac
"""


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class collection(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)
        self.matrices, self.output = self.here / "matrices", self.here / "out"
        self.matrices.mkdir()

    def command(self, *options):
        return [sys.executable, str(SCRIPTS / "collection"), str(self.matrices), str(self.output), "--backend", "host",
                "--threads", "1", *options]

    def run_script(self, *options):
        return subprocess.run(self.command("--krylith", KRYLITH, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)

    def generate(self, spec, name):
        (self.matrices / name).parent.mkdir(exist_ok=True)
        subprocess.run([KRYLITH, "convert", f"gallery:{spec}", str(self.matrices / name)], check=True,
                       stdout=subprocess.DEVNULL)

    def stand_in(self):
        program = self.here / "krylith"
        program.write_text(STAND_IN.format(here=self.here))
        program.chmod(0o755)
        (self.matrices / "a.mtx").write_text("")
        return str(program)

    def summary(self):
        with open(self.output / "summary.csv", encoding="utf-8", newline="") as file:
            return {row["matrix"]: row for row in csv.DictReader(file)}

    def test_every_step_of_every_matrix(self):
        self.generate("poisson2d:12", "grid.mtx")
        self.generate("fullchip:200", "sub/FullChip.kcsr")
        (self.matrices / "sub/grid.mtx.gz").write_bytes(gzip.compress((self.matrices / "grid.mtx").read_bytes()))
        (self.matrices / "wide.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 2\n1 3 1\n2 2 5\n")
        (self.matrices / "bad.mtx").write_text("hello\n")
        (self.matrices / "x.mtx").write_text("%%MatrixMarket matrix array real general\n2 1\n1\n2\n")
        (self.matrices / "README.md").write_text("no matrix")
        done = self.run_script("--device-counts", "1,2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = self.summary()
        self.assertEqual(set(lines), {"grid.mtx", "FullChip", "sub-grid.mtx.gz", "wide", "bad", "x"})
        for name in ("grid.mtx", "FullChip", "sub-grid.mtx.gz"):
            line = lines[name]
            self.assertEqual((line["format"], float(line["over csr"]), line["remarks"]), ("csr", 1, ""))
            self.assertIn(line["operator on 2"], ("halo", "nz", "2nz", "lra", "lra-rc", "allgather", "pcsr", "pcsc", "pcoo"))
            for title in ("us", "us on 2", "2 over 1", "adaptive over it in BFS", "adaptive over it in PageRank", "seconds"):
                self.assertGreater(float(line[title]), 0, title)
            self.assertGreaterEqual(float(line["fixed over fastest"]), 1)
            self.assertEqual((line["solver"], line["outcome"]), ("cg", "converged"))
        self.assertEqual((lines["grid.mtx"]["rows"], lines["grid.mtx"]["nonzeros"]), ("144", "672"))
        self.assertEqual(lines["FullChip"]["paper"], "LRA+RC")
        self.assertEqual(lines["wide"]["remarks"], "operators-2: needs a square matrix; graph: needs a square matrix")
        self.assertEqual((lines["wide"]["solver"], lines["wide"]["columns"]), ("lsqr", "3"))
        self.assertIn("no banner", lines["bad"]["remarks"])
        self.assertIn("a vector", lines["x"]["remarks"])
        text = (self.output / "summary.md").read_text()
        self.assertIn("Solves that converged: 4 of 4.", text)
        self.assertRegex(text, r"\| FullChip \| LRA\+RC .*\| yes, 200 rows, 1\d+ nonzeros \|")
        self.assertEqual({row["family"] for row in json.loads((self.output / "formats.json").read_text())["rows"]},
                         {"LRA+RC", "other matrices"})
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.assertIn("No pictures: matplotlib is missing", done.stdout)
        else:
            for picture in ("formats/rates_formats", "operators/speedup", "spmspv/kernels", "graph/speedup_bfs"):
                self.assertGreater((self.output / "pictures" / f"{picture}.svg").stat().st_size, 1000)
        # What is there is not repeated, and stands in the tables again.
        self.assertEqual(self.run_script("--device-counts", "2", "--dry-run").stdout, "")
        again = self.run_script("--device-counts", "2")
        self.assertEqual(again.stdout.count(" s\n"), 0, again.stdout)
        self.assertEqual(self.summary(), lines)
        # Only what has changed.
        self.generate("poisson2d:13", "grid.mtx")
        left = self.run_script("--steps", "solve,formats", "--dry-run").stdout.splitlines()
        self.assertEqual([line.split()[1] for line in left], ["info", "solve", "bench"])
        self.assertTrue(all("/matrices/grid.mtx " in line for line in left))
        again = self.run_script("--steps", "solve", "--again", "--dry-run").stdout
        self.assertEqual((again.count(" info "), again.count(" solve ")), (6, 6))

    def test_failures_in_words(self):
        program = self.stand_in()
        done = self.run_script("--krylith", program, "--limit", "0.5")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(self.summary()["a"]["remarks"],
                         "formats: out of time (0.5 s); operators-2: status 0: it said nothing; spmspv: ended by SIGSEGV; "
                         "graph: void: bits differ; solve: it is too large for the memory")
        self.assertFalse(is_running(int((self.here / "child").read_text())))
        # A higher limit repeats what it cut, and nothing else.
        left = self.run_script("--krylith", program, "--limit", "0.6", "--dry-run").stdout.splitlines()
        self.assertEqual([line.split()[1:3] for line in left], [["bench", "sparse"]])
        self.assertEqual(self.run_script("--krylith", program, "--limit", "0.4", "--dry-run").stdout, "")

    def test_an_interrupted_call_goes_on(self):
        program = self.stand_in()
        for how in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen(self.command("--krylith", program, "--steps", "solve,formats"), stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True) as process:
                until = time.monotonic() + 60
                while not (self.here / "child").exists() and time.monotonic() < until:
                    time.sleep(0.02)
                process.send_signal(how)
                text = process.communicate(timeout=60)[0]
            self.assertEqual(process.returncode, 130, text)
            self.assertIn("the same command goes on", text)
            self.assertFalse(is_running(int((self.here / "child").read_text())))
            (self.here / "child").unlink()
            self.assertEqual(sorted(os.listdir(self.output / "runs/a.mtx")), ["info.json", "solve.json"])
        calls = (self.here / "calls").read_text()
        self.assertEqual((calls.count("info "), calls.count("solve "), calls.count("formats")), (1, 1, 2))

    def test_the_list_of_the_papers(self):
        self.generate("poisson1d:4", "hv15r.mtx")
        listed = subprocess.run([sys.executable, str(SCRIPTS / "collection"), "--list"], stdout=subprocess.PIPE, text=True,
                                check=True).stdout
        self.assertIn("3 of the 48 names are known here", listed)
        self.assertIn("0 of 18 of Adaptive SpMV/SpMSpV", listed)
        self.assertEqual(listed.count("| no |"), 3)
        self.assertRegex(self.run_script("--list").stdout, r"\| HV15R .*\| yes \|")
        papers = self.here / "papers.csv"
        papers.write_text("paper,name,rows,nonzeros\nSpMSpV,HV15R,4,10\nSpMSpV,other,5,9\n")
        self.run_script("--papers", str(papers), "--steps", "solve")
        self.assertRegex((self.output / "summary.md").read_text(), r"HV15R .* 4 \| 10 \| yes, 4 rows, 10 nonzeros \|")
        papers.write_text("paper,name,rows,nonzeros\nSpMSpV,HV15R,5,\n")
        self.run_script("--papers", str(papers), "--steps", "solve")
        self.assertIn("4 rows, 10 nonzeros: not the paper's size", (self.output / "summary.md").read_text())

    def test_what_is_refused(self):
        (self.here / "papers.csv").write_text("paper,name\nno,HV15R\n")
        for options, words in ((("--steps", "solve,no"), "'solve,no' is no list"), (("--limit", "0"), "--limit"),
                               (("--device-counts", "2,x"), "'2,x' is no list"), ((), "archives (.tar.gz) must be unpacked"),
                               (("--papers", str(self.here / "papers.csv")), "a line needs a paper of MSREP")):
            done = self.run_script(*options)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(words, done.stderr)
            self.assertNotIn("Traceback", done.stderr)
        (self.matrices / "a.mtx").write_text("")
        done = self.run_script("--krylith", "/no")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no krylith with its benchmarks at /no", done.stderr)
        self.assertFalse(self.output.exists())


if __name__ == "__main__":
    unittest.main()
