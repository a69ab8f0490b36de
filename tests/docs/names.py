#!/usr/bin/env python3
"""Compares the names in the tables of the pages with those that the command knows:

    names.py SOURCE_DIR KRYLITH

A row of README.md's table "What exists" must have exactly the names that the command accepts, and
the tables of reasons those of solvers/result.cpp. Prints each difference; exits with 1 if any.
"""
import pathlib
import re
import subprocess
import sys


def said_by(krylith, *arguments):
    return subprocess.run([krylith, *arguments], check=True, capture_output=True, text=True).stdout


def choices(krylith, option):
    """Of "--solver cg|gmres|bicgstab", but for those that choose for the user."""
    line = re.search(rf"^ +{option} (\S+)", said_by(krylith, "solve", "--help"), flags=re.M)
    names = {name for name in line.group(1).split("|") if not name.endswith(":measured")}
    return names - {"auto", "none"}


def algorithms(krylith):
    """Of krylith graph, as it lists them where it is asked for another."""
    refused = subprocess.run([krylith, "graph", "none", "x"], capture_output=True, text=True,
                             check=False)
    return set(refused.stderr.rpartition("alid are ")[2].split())


def row(page, title):
    """The `names` in the second column of the table rows that begin with this title."""
    rows = [r for r in page.read_text(encoding="utf-8").splitlines() if r.startswith(f"| {title}")]
    return {name for r in rows for name in re.findall(r"`([^`]+)`", r.split("|")[2])}


def first_column(page, heading):
    text = page.read_text(encoding="utf-8").split(heading, 1)[-1]
    return set(re.findall(r"^\| `(\w+)` \|", text, flags=re.M))


def differences(root, krylith):
    readme = root / "README.md"
    gallery = set(re.findall(r"^gallery:(\w+)", said_by(krylith, "gallery"), flags=re.M))
    reasons = set(re.findall(r'return "(\w+)"', (root / "solvers/result.cpp").read_text())) - {"unknown"}
    for what, written, known in [
            ("README.md, Solvers", row(readme, "Solvers"), choices(krylith, "--solver")),
            ("README.md, Preconditioners", row(readme, "Precond"), choices(krylith, "--precond")),
            ("README.md, Operators", row(readme, "Operators"), choices(krylith, "--operator")),
            ("README.md, Orders", row(readme, "Orders"), choices(krylith, "--reorder")),
            ("README.md, Formats", row(readme, "Formats"), choices(krylith, "--format")),
            ("README.md, Precision", row(readme, "Precision"), choices(krylith, "--precision")),
            ("README.md, Graphs", row(readme, "Graphs"), algorithms(krylith)),
            ("README.md, Gallery", row(readme, "Gallery"), gallery),
            ("docs/choosing_a_solver.md, reasons",
             first_column(root / "docs/choosing_a_solver.md", "## Why a solve ended"), reasons),
            ("docs/failure.md, reasons", first_column(root / "docs/failure.md", "## Reasons"), reasons)]:
        if not known:
            yield f"{what}: the command or source names nothing"
        if written != known:
            yield (f"{what}: missing {sorted(known - written)}, "
                   f"not known to krylith {sorted(written - known)}")


if __name__ == "__main__":
    found = list(differences(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
    print("\n".join(found) or "all names agree")
    sys.exit(bool(found))
