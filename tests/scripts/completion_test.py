#!/usr/bin/env python3
"""Tests of the completion for bash:

    completion_test.py COMPLETION.bash KRYLITH

What it offers for an option must be what the command itself says that it accepts.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPT, KRYLITH = (pathlib.Path(argument).resolve() for argument in (sys.argv.pop(1), sys.argv.pop(1)))
FILES = ("a.mtx", "b.mtx.gz", "c.kcsr", "d.txt", "two words.mtx")


def offers(line):
    """What bash would offer behind the line, as a list."""
    script = r'''source "$1"; COMP_LINE=$3; COMP_POINT=${#3}; _krylith "$2"; printf '%s\n' "${COMPREPLY[@]}"'''
    with tempfile.TemporaryDirectory() as folder:
        for name in FILES:
            (pathlib.Path(folder) / name).touch()
        (pathlib.Path(folder) / "folder").mkdir()
        run = subprocess.run(["bash", "-c", script, "bash", SCRIPT, KRYLITH, line], cwd=folder, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    return run.stdout.split("\n")[:-1] if run.stdout.strip() else []


def refusal(*arguments):
    """The names that the command lists as valid where one isn't."""
    run = subprocess.run([KRYLITH, *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return re.search(r"valid are ([^;\n]*)", run.stderr, re.I).group(1).split()


class Completion(unittest.TestCase):
    def test_commands(self):
        self.assertEqual(sorted(offers("krylith ")), sorted(refusal("xyzzy")))
        self.assertEqual(offers("krylith rec"), ["recommend"])

    def test_options(self):
        self.assertEqual(offers("krylith solve a.mtx --max-i"), ["--max-iterations"])
        self.assertEqual(offers("krylith solve a.mtx --max"), ["--max-iterations", "--max-seconds"])
        self.assertEqual(offers("krylith convert a.mtx b.kcsr --pre"), ["--precision"])

    def test_values_are_those_that_the_command_accepts(self):
        for command in ("solve", "spmv"):
            for option in ("operator", "format", "reorder", "precision", "backend", "transport"):
                with self.subTest(command=command, option=option):
                    accepted = refusal(command, "gallery:poisson2d:4", f"--{option}", "xyzzy")
                    offered = [name for name in offers(f"krylith {command} a.mtx --{option} ")
                               if not name.endswith(":measured")]
                    self.assertEqual(offered, accepted)
        for option in ("solver", "precond", "side", "execution"):
            with self.subTest(option=option):
                self.assertEqual(offers(f"krylith solve a.mtx --{option} "),
                                 refusal("solve", "gallery:poisson2d:4", f"--{option}", "xyzzy"))
        self.assertEqual(offers("krylith graph bfs a.mtx --kernel "),
                         refusal("graph", "bfs", "gallery:poisson2d:4", "--kernel", "xyzzy"))
        self.assertEqual(offers("krylith graph "), refusal("graph", "xyzzy", "gallery:poisson2d:4"))
        self.assertEqual(offers("krylith bench "), refusal("bench", "xyzzy", "gallery:poisson2d:4"))
        self.assertEqual(offers("krylith bench cg:p"), ["persistent"])
        self.assertEqual(offers("krylith bench spmv a.mtx --device-c"), ["--device-counts"])
        self.assertEqual(offers("krylith bench cg a.mtx --against "),
                         refusal("bench", "cg", "gallery:poisson2d:4", "--against", "xyzzy"))

    def test_values_with_colons_and_equals_signs(self):
        self.assertEqual(offers("krylith solve a.mtx --solver cg:"), ["launched", "persistent"])
        self.assertEqual(offers("krylith solve a.mtx --operator lra:"), ["measured"])
        self.assertEqual(offers("krylith solve a.mtx --side=s"), ["split"])
        self.assertEqual(offers("krylith solve a.mtx --rhs r"), ["row-sums", "range:", "random:"])
        self.assertEqual(offers("krylith solve a.mtx --rtol "), [])

    def test_matrices_are_files_of_their_formats_and_the_gallery(self):
        self.assertEqual(offers("krylith solve a"), ["a.mtx"])
        self.assertEqual(offers("krylith solve f"), ["folder/"])
        self.assertEqual(offers("krylith solve d"), [])
        self.assertEqual(offers("krylith solve t"), ["two\\ words.mtx"])
        self.assertEqual(offers("krylith solve two\\ w"), ["two\\ words.mtx"])
        self.assertEqual(offers("krylith graph bfs c"), ["c.kcsr"])
        self.assertEqual(offers("krylith bench cg --spd b"), ["b.mtx.gz"])
        self.assertIn("gallery:poisson3d", offers("krylith solve gal"))
        self.assertEqual(offers("krylith solve gallery:stok"), ["stokes2d"])
        self.assertEqual(offers("krylith gallery stok"), ["stokes2d"])

    def test_other_files(self):
        self.assertEqual(offers("krylith solve a.mtx --x0 d"), ["d.txt"])
        self.assertEqual(offers("krylith convert a.mtx d"), ["d.txt"])
        self.assertEqual(offers("krylith multiply a.mtx a"), ["a.mtx"])
        self.assertEqual(offers("krylith multiply a.mtx a.mtx d"), ["d.txt"])
        self.assertEqual(offers("krylith add a.mtx a.mtx d"), ["d.txt"])


if __name__ == "__main__":
    unittest.main()
