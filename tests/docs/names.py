#!/usr/bin/env python3
"""Compares the names in the tables of the pages with those that the command knows:

    names.py SOURCE_DIR KRYLITH

A row of the table "Names" of docs/reference.md must have exactly the names that the command accepts, and
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
    page = root / "docs/reference.md"
    gallery = set(re.findall(r"^gallery:(\w+)", said_by(krylith, "gallery"), flags=re.M))
    reasons = set(re.findall(r'return "(\w+)"', (root / "solvers/result.cpp").read_text())) - {"unknown"}
    for what, written, known in [
            ("docs/reference.md, Solvers", row(page, "Solvers"), choices(krylith, "--solver")),
            ("docs/reference.md, Preconditioners", row(page, "Precond"), choices(krylith, "--precond")),
            ("docs/reference.md, Operators", row(page, "Operators"), choices(krylith, "--operator")),
            ("docs/reference.md, Orders", row(page, "Orders"), choices(krylith, "--reorder")),
            ("docs/reference.md, Transports", row(page, "Transports"), choices(krylith, "--transport")),
            ("docs/reference.md, Formats", row(page, "Formats"), choices(krylith, "--format")),
            ("docs/reference.md, Precision", row(page, "Precision"), choices(krylith, "--precision")),
            ("docs/reference.md, Graphs", row(page, "Graphs"), algorithms(krylith)),
            ("docs/reference.md, Gallery", row(page, "Gallery"), gallery),
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
