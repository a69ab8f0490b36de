#!/usr/bin/env python3
"""Tests of scripts/preconditioners: preconditioners_test.py FOLDER_OF_SCRIPTS KRYLITH"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

KRYLITH = sys.argv.pop(2)
SCRIPTS = pathlib.Path(sys.argv.pop(1))


def run(*options):
    return subprocess.run([sys.executable, str(SCRIPTS / "preconditioners"), KRYLITH, "--backend", "host",
                           "--repetitions", "1", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


class preconditioners(unittest.TestCase):
    def test_a_row_for_each_case(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "rows.json"
            done = run("--matrix", "gallery:poisson2d:20", "--device-counts", "1,2", "--json", str(out))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            rows = json.loads(out.read_text())["rows"]
        self.assertEqual([(row["devices"], row["preconditioner"]) for row in rows],
                         [(d, p) for d in (1, 2) for p in ("none", "jacobi", "block-jacobi", "gauss-seidel", "ic0",
                                                           "fsai", "chebyshev", "amg")])
        self.assertEqual(len(done.stdout.splitlines()), 2 + len(rows))
        for row in rows:
            self.assertTrue(row["converged"])
            self.assertLessEqual(row["relative_residual"], 1.01e-8)
            self.assertGreater(row["solve_ms"], 0)
            self.assertGreater(row["setup_ms"], 0)
            self.assertEqual(row["n"], 400)
        by_name = {row["preconditioner"]: row for row in rows if row["devices"] == 1}
        self.assertLess(by_name["amg"]["iterations"], by_name["none"]["iterations"])
        self.assertEqual(by_name["none"]["mb"], 0)
        self.assertGreater(by_name["amg"]["mb"], 0)

    def test_what_does_not_converge_says_so(self):
        done = run("--matrix", "gallery:stokes2d:8", "--precond", "none")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("indefinite_matrix after", done.stdout)

    def test_a_failure_of_krylith_is_one(self):
        done = run("--matrix", "gallery:no", "--precond", "none")
        self.assertEqual(done.returncode, 1)
        self.assertIn("unknown matrix", done.stdout)


if __name__ == "__main__":
    unittest.main()
