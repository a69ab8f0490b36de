#!/usr/bin/env python3
"""Runs what the pages say can be run:

    console.py SOURCE_DIR KRYLITH

Commands are the lines "$ ..." of ```console blocks; those of a page run one after the other in an
empty folder, without GPUs. Each line shown below a command must come in its output, in that order; output may be left
out, and what ends with "..." goes on. Of the numbers these are compared, in which machines agree: exit statuses, counts
of SIZES, iterations (to 2% or one, since processors round differently), and numbers with an exponent, such as
residuals (to a factor of ten). Times, bytes and other numbers may differ. Prints each offence and exits with 1 if there
is one.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from pages import blocks, pages

NUMBER = re.compile(r"(?<![A-Za-z_])[-+]?\d[\d.]*(?:e[-+]?\d+)?")
SIZES = r" (rows?|nonzeros?|entries|entry|columns?|vertices|edges|right-hand sides?|x \d)"

END = "--- end of the command ---"


def like(line):
    """A line but for its numbers, and singular or plural after them."""
    line = NUMBER.sub("#", line)
    line = re.sub(r"(# \w+?)s?\b", r"\1", line)
    return re.sub(r"(# \w+ \w+?)s?\b", r"\1", line).strip() # "1 residual replacement"


def numbers_agree(shown, printed):
    """Of two lines that are like each other, as far as the first goes."""
    for mine, other in zip(NUMBER.finditer(shown), NUMBER.finditer(printed)):
        behind = shown[mine.end():]
        if re.match(SIZES, behind) and mine[0] != other[0]:
            return False
        if re.match(" iterations?", behind):
            few = max(1.0, 0.02 * float(mine[0]))
            if abs(float(mine[0]) - float(other[0])) > few:
                return False
        if "e" in mine[0] and float(mine[0]) != 0:
            ratio = float(other[0]) / float(mine[0])
            if not 0.1 < ratio < 10:
                return False
    return True


def agree(command, shown, printed):
    if command == "echo $?":
        return shown == printed
    if shown.endswith("..."):
        shown = shown[:-3]
        return like(printed).startswith(like(shown)) and numbers_agree(shown, printed)
    return like(shown) == like(printed) and numbers_agree(shown, printed)


def commands(page):
    """(line number, command, lines shown) of a page."""
    found = []
    for start, text in blocks(page, "console"):
        for number, line in enumerate(text.splitlines(), start + 1):
            if line.startswith("$ "):
                found.append((number, line[2:], []))
            elif line.startswith("> "):  # goes on
                found[-1] = (found[-1][0], found[-1][1] + "\n" + line[2:], [])
            elif line.strip():
                found[-1][2].append(line)
    return found


def outputs(typed, krylith):
    """What each of the commands says, in one shell."""
    script = "".join(f"{command}\n{{ code=$?; echo; echo '{END}'; (exit $code); }} 2>&1\n"
                     for command in typed)
    environment = dict(os.environ, CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="2",
                       PATH=f"{krylith.parent}:{os.environ['PATH']}")
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(["bash"], input=script, text=True, cwd=folder, env=environment,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return run.stdout.split(END + "\n")


def offences(page, krylith):
    typed = commands(page)
    said = outputs([command for _, command, _ in typed], krylith)
    for (number, command, shown), output in zip(typed, said + [""] * len(typed)):
        rest = iter(output.splitlines())
        for line in shown:
            if not any(agree(command, line, other) for other in rest):
                yield f"{page}:{number}: $ {command}\n  is said to print: {line}\n  prints:\n{output}"
                break


if __name__ == "__main__":
    tree, command = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    wrong = [text for page in pages(tree) for text in offences(page, command)]
    count = sum(len(commands(page)) for page in pages(tree))
    print("\n".join(wrong) or f"{count} commands print what the pages say")
    sys.exit(bool(wrong) or count == 0)
