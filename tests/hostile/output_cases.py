"""Outputs that can't be written, or that have something to lose."""
import os
import signal
import stat
import time

from market_cases import GOOD, fifo, loop
from runner import Case

OLD = b"what was there before\n"
OPTIONS = {"--solution": "x.mtx", "--report": "r.json", "--history": "h.csv", "--plot": "p.svg"}
CONVERTED = ("c.mtx", "c.mtx.gz", "c.kcsr")
SMALL = "trap '' XFSZ; ulimit -f 1; exec \"$@\""


def private(path):
    with open(path, "wb") as file:
        file.write(OLD)
    os.chmod(path, 0o600)


def written(name, mode=None):
    """Checks that the old file has been replaced."""
    def check(folder, status):
        path = os.path.join(folder, name)
        if status == 0 and open(path, "rb").read() == OLD:
            return f"{name} is the old one"
        if mode is not None and stat.S_IMODE(os.stat(path).st_mode) != mode:
            return f"the mode of {name} is {stat.S_IMODE(os.stat(path).st_mode):o}, was {mode:o}"
        return ""
    return check


def pure(name, first):
    """Checks that nothing else went into the file."""
    def check(folder, status):
        path = os.path.join(folder, name)
        if os.path.exists(path) and not open(path, "rb").read().startswith(first):
            return f"{name} begins with {open(path, 'rb').read()[:40]!r}"
        return ""
    return check


def stop(number, seconds):
    def stopping(_folder, process):
        time.sleep(seconds)
        process.send_signal(number)
    return stopping


def file_cases(name, command, large, label):
    """The output `name` of a command; `large` writes more than 1 KiB, which is a block for some shells."""
    full = "/dev/full" if label.startswith("--") else "f." + name.split(".", 1)[1]
    files = {"a.mtx": GOOD}
    if not label.startswith("--"):
        files[full] = lambda path: os.symlink("/dev/full", path)
    yield Case(f"{label} to /dev/full", command(full), (3,), files, [full])
    yield Case(f"{label} to a folder", command(name), (3,), {"a.mtx": GOOD, name: os.mkdir}, [name], ["a.mtx"])
    yield Case(f"{label} into no folder", command("none/" + name), (3,), {"a.mtx": GOOD}, ["none/" + name])
    yield Case(f"{label} to a symbolic loop", command(name), (0, 3), {"a.mtx": GOOD, name: loop}, [name])
    yield Case(f"{label} to a FIFO", command(name), (2, 3), {"a.mtx": GOOD, name: fifo}, [name], seconds=6)
    yield Case(f"{label} keeps the mode", command(name), (0,), {"a.mtx": GOOD, name: private},
               after=written(name, 0o600))
    yield Case(f"{label}: the old file survives a full disk", large(name), (3,), {name: OLD}, [name],
               [name], shell=SMALL)
    yield Case(f"{label}: nothing is left of a full disk", large(name), (3,), {}, [name], shell=SMALL)
    if os.getuid() != 0:
        yield Case(f"{label} into a folder without permission", command("d/" + name), (3,),
                   {"a.mtx": GOOD, "d": lambda path: os.mkdir(path, 0o500)}, ["d/" + name])


def stream_cases(backend):
    solve = ["solve", "a.mtx"] + backend
    commands = {
        "solve": solve, "solve --report -": solve + ["--report", "-", "--quiet"],
        "info": ["info", "a.mtx"], "spmv": ["spmv", "a.mtx"] + backend, "gallery": ["gallery"],
        "devices": ["devices"], "help": ["solve", "--help"], "version": ["--version"],
        "graph": ["graph", "bfs", "a.mtx"] + backend, "convert": ["convert", "a.mtx", "c.mtx"],
        "multiply": ["multiply", "a.mtx", "a.mtx", "c.mtx"] + backend,
    }
    for name, arguments in commands.items():
        for label, shell in (("full", 'exec "$@" >/dev/full'), ("closed", 'exec "$@" >&-')):
            yield Case(f"standard output {label}: {name}", arguments, (3,), {"a.mtx": GOOD},
                       ["output", "stdout", "/dev/full", "-"], ["a.mtx"], ["c.mtx"], shell=shell, seconds=60)
    yield Case("closed streams don't end up in an output", solve + ["--solution", "x.mtx"], (0, 3), {"a.mtx": GOOD},
               outputs=["x.mtx"], shell='exec "$@" >&-', after=pure("x.mtx", b"%%MatrixMarket"))


def cases(backend):
    solve = ["solve", "a.mtx", "--quiet"] + backend
    big = ["solve", "gallery:poisson2d:40", "--quiet", "--rtol", "1e-12"] + backend
    for option, name in OPTIONS.items():
        yield from file_cases(name, lambda to, o=option: solve + [o, to], lambda to, o=option: big + [o, to], option)
    for name in CONVERTED:
        yield from file_cases(name, lambda to: ["convert", "a.mtx", to, "--quiet"],
                              lambda to: ["convert", "gallery:random:3000:9", to, "--quiet"], "convert " + name)
    yield from file_cases("c.mtx", lambda to: ["multiply", "a.mtx", "a.mtx", to, "--quiet"] + backend,
                          lambda to: ["multiply"] + 2 * ["gallery:random:3000:9"] + [to, "--quiet"] + backend,
                          "multiply")
    yield from stream_cases(backend)
    yield Case("--solution is the matrix", solve + ["--solution", "a.mtx"], (2, 3), {"a.mtx": GOOD}, ["a.mtx"],
               ["a.mtx"])
    vector = b"%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n"
    yield Case("--solution is the rhs", solve + ["--rhs", "b.mtx", "--solution", "b.mtx"], (2, 3),
               {"a.mtx": GOOD, "b.mtx": vector}, ["b.mtx"], ["a.mtx", "b.mtx"])
    yield Case("--solution is the matrix by another name", solve + ["--solution", "./a.mtx"], (2, 3), {"a.mtx": GOOD},
               ["a.mtx"], ["a.mtx"])
    yield Case("two outputs of one name", solve + ["--solution", "x", "--history", "x"], (0, 2, 3), {"a.mtx": GOOD},
               outputs=["x"])
    yield Case("convert to an unknown ending", ["convert", "a.mtx", "a.xyz"], (2, 3), {"a.mtx": GOOD}, ["a.xyz"])
    for name in CONVERTED:
        for number, seconds in ((signal.SIGTERM, 0.15), (signal.SIGINT, 0.3), (signal.SIGTERM, 0.5)):
            yield Case(f"convert {name} stopped by signal {int(number)} after {seconds} s",
                       ["convert", "gallery:poisson3d:80", name, "--quiet"], (0, 130, 143), {}, outputs=[name],
                       during=stop(number, seconds), signals=(signal.SIGTERM, signal.SIGINT), seconds=60)
