#!/usr/bin/env python3
"""Tests of how scripts/train shares the measuring among GPUs:

    train_on_gpus_test.py FOLDER_OF_SCRIPTS

Nothing is built, measured or trained: programs that write down what they are called with stand in for CMake,
nvidia-smi, krylith bench spmspv and the trainer's Python.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPTS = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path("scripts")
MATRICES = 324
# Its log tells its process, and how many it may use of the cores; GPU `FAILING` fails, `HANGING` never ends.
BENCH = f"""#!{sys.executable}
import json, os, sys, time
assert sys.argv[1:3] == ["bench", "spmspv"]
given = sys.argv[3:]
value = lambda name, other: given[given.index(name) + 1] if name in given else other
gpu = value("--device", "0")
print("process", os.getpid(), "threads", os.environ.get("OMP_NUM_THREADS"), flush=True)
with open(value("--report", ""), "w") as file:
    file.write(json.dumps({{"benchmark": "spmspv", "model_file": "", "architecture": "cuda:sm_90",
                           "given": given}}) + "\\n")
    for place in range(int(value("--first", 0)), {MATRICES}, int(value("--every", 1))):
        file.write(json.dumps({{"matrix": f"m{{place}}", "features": {{}}}}) + "\\n")
time.sleep(60 if os.environ.get("HANGING") == gpu else 0)
sys.exit(1 if os.environ.get("FAILING") == gpu else 0)
"""
PYTHON = f"""#!{sys.executable}
import json, os, subprocess, sys
given = sys.argv[1:]
if given[:1] == ["-c"]: # whether there is scikit-learn
    sys.exit(0)
if given[0].endswith("train_kernel_models.py"):
    with open(os.environ["TRAINED"], "w") as file:
        json.dump(given[1:], file)
    open(given[given.index("--model") + 1], "w").close()
else:
    sys.exit(subprocess.run([sys.executable, *given], check=False).returncode)
"""
STAND_INS = {
    "cmake": "#!/bin/sh\necho cmake version 3.30.0\n",
    "dpkg-query": "#!/bin/sh\nprintf installed\n",
    "nvidia-smi": "#!/bin/sh\nfor k in $(seq 1 \"$LISTED\"); do echo \"GPU $k: some\"; echo '  MIG'; done\n",
    "python3": PYTHON}


class train_on_gpus_test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)
        for name, text in {**{f"path/{n}": t for n, t in STAND_INS.items()},
                           "build/bin/krylith": BENCH}.items():
            path = self.here / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)
        self.results = self.here / "results"
        self.results.mkdir()
        self.trained = self.here / "trained.json"

    def start(self, *arguments, listed=4, **more):
        environment = {**os.environ, "PATH": f"{self.here / 'path'}:{os.environ['PATH']}", "LISTED": str(listed),
                       "TRAINED": str(self.trained), **more}
        return subprocess.Popen([str(SCRIPTS / "train"), str(self.results), "--no-install", "--build",
                                 str(self.here / "build"), *arguments], env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_script(self, *arguments, **more):
        process = self.start(*arguments, **more)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def measured(self):
        """By file: what the benchmark was given, and places of the matrices."""
        found = {}
        for path in sorted(self.results.glob("*.jsonl")):
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            found[path.name] = (lines[0]["given"], [int(line["matrix"][1:]) for line in lines[1:]])
        return found

    def trained_with(self):
        given = json.loads(self.trained.read_text())
        return [pathlib.Path(name).name for name in given[:given.index("--model")]]

    def check_shares(self, count, expected, *arguments, **more):
        code, out, err = self.run_script(*arguments, **more)
        self.assertEqual(code, 0, out + err)
        files = [f"measured.{gpu}.jsonl" for gpu in range(count)]
        found = self.measured()
        self.assertEqual(list(found), files)
        self.assertEqual(self.trained_with(), files)
        for gpu, name in enumerate(files):
            given = found[name][0]
            self.assertEqual(given[given.index("--device") + 1], str(gpu))
            self.assertEqual(given[given.index("--backend") + 1], "cuda")
            self.assertIn(f"GPU {gpu}: {len(found[name][1])} matrices in ", out)
            self.assertIn("process ", (self.results / f"measured.{gpu}.log").read_text())
        together = [place for _, places in found.values() for place in places]
        self.assertEqual(sorted(together), list(expected))
        return found

    def test_shares_make_up_one_run(self):
        self.check_shares(3, range(MATRICES), "--gpus", "3")

    def test_all_that_are_listed(self):
        self.check_shares(4, range(MATRICES), "--gpus", "all")

    def test_quick_is_a_fifth_however_many_gpus(self):
        found = self.check_shares(3, range(0, MATRICES, 5), "--quick", "--gpus", "3", "--", "--precision", "fp64")
        for given, _ in found.values():
            self.assertEqual(given[-2:], ["--precision", "fp64"])

    def test_one_gpu_has_one_file(self):
        for arguments, expected in ((("--gpus", "1"), range(MATRICES)), (("--quick",), range(0, MATRICES, 5)),
                                    (("--backend", "host"), range(MATRICES))):
            code, out, err = self.run_script(*arguments)
            self.assertEqual(code, 0, out + err)
            self.assertEqual(self.trained_with(), ["measured.jsonl"])
            given, places = self.measured()["measured.jsonl"]
            self.assertNotIn("--device", given)
            self.assertEqual(places, list(expected))
        code, out, err = self.run_script("--gpus", "all", listed=1)
        self.assertEqual((code, self.trained_with()), (0, ["measured.jsonl"]), out + err)

    def test_an_earlier_run_is_removed_unless_it_is_reused(self):
        old = ["measured.jsonl", "measured.0.jsonl", "measured.7.jsonl"]
        own = ["mine.jsonl", "measured.mine.jsonl"]
        for name in old + own:
            (self.results / name).write_text('{"given": []}\n')
        (self.results / "measured.7.log").write_text("")
        code, out, err = self.run_script("--reuse", "--gpus", "all")
        self.assertEqual(code, 0, out + err)
        self.assertEqual(sorted(self.trained_with()), sorted(old + own))
        code, out, err = self.run_script("--gpus", "2")
        self.assertEqual(code, 0, out + err)
        self.assertEqual(self.trained_with(), ["measured.0.jsonl", "measured.1.jsonl"])
        self.assertEqual(sorted(self.measured()), sorted(["measured.0.jsonl", "measured.1.jsonl", *own]))
        self.assertFalse((self.results / "measured.7.log").exists())

    def test_some_kernels_are_measured_again_beside_the_others(self):
        code, _, err = self.run_script("--kernels", "row")
        self.assertEqual(code, 1)
        self.assertIn("and there is none in ", err)
        for name in ("measured.0.jsonl", "mine.jsonl", "again.7.jsonl"):
            (self.results / name).write_text('{"given": []}\n')
        code, out, err = self.run_script("--kernels", "row,row-balanced", "--gpus", "2")
        self.assertEqual(code, 0, out + err)
        found = self.measured()
        self.assertEqual(sorted(found), ["again.0.jsonl", "again.1.jsonl", "measured.0.jsonl", "mine.jsonl"])
        self.assertEqual(sorted(self.trained_with()), sorted(found))
        for gpu in range(2):
            given, places = found[f"again.{gpu}.jsonl"]
            self.assertEqual(given[given.index("--kernels") + 1], "row,row-balanced")
            self.assertEqual(places, list(range(gpu, MATRICES, 2)))
        code, out, err = self.run_script("--kernels", "row")  # one GPU, and no shares of before
        self.assertEqual(code, 0, out + err)
        self.assertEqual(sorted(self.trained_with()), ["again.jsonl", "measured.0.jsonl", "mine.jsonl"])
        code, out, err = self.run_script("--quick")  # all of them anew: what was measured again is of before
        self.assertEqual(code, 0, out + err)
        self.assertEqual(self.trained_with(), ["measured.jsonl"])
        self.assertEqual(sorted(self.measured()), ["measured.jsonl", "mine.jsonl"])

    def test_the_one_that_failed_is_named(self):
        code, out, err = self.run_script("--gpus", "3", FAILING="1")
        self.assertEqual(code, 1)
        self.assertIn("GPU 1: failed, see ", out)
        self.assertIn("measuring failed, or results were wrong: see ", err)
        self.assertEqual([f"measured.{gpu}.log" in err for gpu in range(3)], [False, True, False])
        self.assertIn("GPU 2: 108 matrices in ", out)
        self.assertFalse(self.trained.exists())

    def test_an_interrupted_run_leaves_no_process(self):
        process = self.start("--gpus", "2", HANGING="1")
        log, until = self.results / "measured.1.log", time.monotonic() + 30
        while not (log.exists() and log.read_text().endswith("\n")) and time.monotonic() < until:
            time.sleep(0.02)
        child = int(log.read_text().split()[1])
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 1)
        self.assertIn("measuring was interrupted", err)
        with self.assertRaises(ProcessLookupError):
            for _ in range(500):
                os.kill(child, 0)
                time.sleep(0.02)

    def test_what_is_refused(self):
        for words, arguments in (
                ("--gpus is '0', must be a number from 1 on, or all", ["--gpus", "0"]),
                ("--gpus is 'two', must be a number", ["--gpus", "two"]),
                ("--gpus needs a value", ["--gpus"]),
                ("--kernels row measures, --reuse does not", ["--kernels", "row", "--reuse"]),
                ("--gpus is 2, must be 1 with --backend host", ["--gpus", "2", "--backend", "host"]),
                ("--gpus is all, must be 1 with --backend host", ["--gpus", "all", "--backend", "host"]),
                ("--gpus is 5, must be at most 4: that is how many", ["--gpus", "5"]),
                ("--every is given by this script", ["--gpus", "2", "--", "--every", "3"])):
            code, out, err = self.run_script(*arguments)
            self.assertEqual(code, 1, out + err)
            self.assertIn(words, err)
        code, _, err = self.run_script("--gpus", "all", listed=0)
        self.assertEqual(code, 1)
        self.assertIn("nvidia-smi -L lists no GPU", err)
        self.assertEqual(self.measured(), {})


if __name__ == "__main__":
    unittest.main()
