#!/usr/bin/env python3
"""Says whether docs/benchmarks.md has the table that krylith bench break_even prints:

    break_even.py SOURCE_DIR KRYLITH

Prints each line that the page lacks, and exits with 1 if there is one.
"""
import pathlib
import subprocess
import sys

page = pathlib.Path(sys.argv[1]) / "docs/benchmarks.md"
written = set(page.read_text(encoding="utf-8").splitlines())
printed = subprocess.run([sys.argv[2], "bench", "break_even"], check=True, capture_output=True, text=True)
table = printed.stdout.splitlines()
missing = [line for line in table if line not in written]
print("\n".join(f"{page} lacks: {line}" for line in missing) or f"{len(table)} lines, all on the page")
sys.exit(bool(missing) or not table)
