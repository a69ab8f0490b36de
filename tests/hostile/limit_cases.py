"""Limits of the machine, and an environment that means no good."""
import os

from market_cases import GOOD
from runner import Case


def guarded(folder, _status):
    victim = os.path.join(folder, "victim")
    if open(victim, "rb").read() != b"precious\n":
        return "the target of a symbolic link in the cache folder was written"
    return ""


def planted(names, target):
    """A cache folder in which each of the names is a symbolic link."""
    def plant(path):
        os.mkdir(path, 0o700)
        for name in names:
            os.symlink(target, os.path.join(path, name))
    return plant


def cases(backend, cached, limited):
    """`cached`: names that krylith keeps in its cache folder. `limited`: kilobytes of address space in which the
    command can start at all, 0 where `ulimit -v` is of no use."""
    solve = ["solve", "a.mtx", "--quiet"] + backend
    files = {"a.mtx": GOOD}
    yield Case("--threads 100000", solve + ["--threads", "100000"], (0, 2, 4), files, ["threads", "100000"])
    yield Case("--threads 100000 on 3", solve + ["--threads", "100000", "--devices", "3"], (0, 2, 4), files,
               ["threads", "100000", "device"])
    yield Case("OMP_NUM_THREADS=100000", solve, (0, 2, 4), files, ["threads", "OMP_NUM_THREADS"],
               environment={"OMP_NUM_THREADS": "100000"})
    yield Case("OMP_NUM_THREADS=100000 for info", ["info", "gallery:poisson3d:40"], (0, 2, 4), {},
               ["threads", "OMP_NUM_THREADS"], environment={"OMP_NUM_THREADS": "100000"})
    yield Case("OMP_STACKSIZE=8G", solve, (0, 2, 4), files, ["threads", "memory"], environment={"OMP_STACKSIZE": "8G"})
    for value in ("nonsense", "EAGER!", "recorded,eager"):
        yield Case(f"KRYLITH_EXECUTION={value}", solve, (2,), files, ["KRYLITH_EXECUTION"],
                   environment={"KRYLITH_EXECUTION": value})
    bfs = ["graph", "bfs", "gallery:kron:6", "--quiet"] + backend
    for model in ("/dev/zero", "/dev/null", "none.txt", "folder", "a.mtx", "/proc/self/mem"):
        yield Case(f"KRYLITH_KERNEL_MODEL={model}", bfs, (2, 3), {"a.mtx": GOOD, "folder": os.mkdir},
                   ["KRYLITH_KERNEL_MODEL", model],
                   environment={"KRYLITH_KERNEL_MODEL": model}, shell='ulimit -v 3000000; exec "$@"' if limited else "")
    # An operator is chosen for two devices or more, which any host has.
    host = ["--backend", "host"]
    auto = ["solve", "gallery:poisson2d:10", "--devices", "2", "--quiet", "--operator", "auto"] + host
    for place in ("/dev/null/x", "/proc/none", "a.mtx", ""):
        yield Case(f"KRYLITH_CACHE={place!r}", auto, (0,), files, environment={"KRYLITH_CACHE": place,
                   "HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null"}, seconds=60)
    measured = auto[:-len(host) - 1] + ["auto:measured"] + host
    own = {"KRYLITH_CACHE": "cache"}
    roomy = 'ulimit -v 6000000; exec "$@"' if limited else ""
    for label, command in (("auto", auto), ("auto:measured", measured), ("devices", ["devices"])):
        yield Case(f"links in the cache folder: {label}", command, (0,),
                   {"victim": b"precious\n", "cache": planted(cached, "../victim")}, environment=own, after=guarded,
                   seconds=60)
        yield Case(f"/dev/zero in the cache folder: {label}", command, (0, 3), {"cache": planted(cached, "/dev/zero")},
                   environment=own, shell=roomy, seconds=60)
    if limited:
        large = "gallery:poisson3d:200"
        for more in (60000, 200000, 500000):
            for command in (["solve", large, "--quiet", "--max-iterations", "1"] + backend, ["info", large],
                            ["convert", large, "o.kcsr"]):
                yield Case(f"{command[0]} within {more} kB more than a start takes", command, (3, 4), {},
                           ["memory", "bytes", "threads"], shell=f'ulimit -v {limited + more}; exec "$@"', seconds=60)
        yield Case("few open files", solve, (0, 3, 4), files, shell='ulimit -n 4; exec "$@"')
        yield Case("no stack to speak of", solve, (0, 4), files, shell='ulimit -s 256; exec "$@"')
    yield Case("an absurd gallery matrix", ["solve", "gallery:poisson3d:100000", "--quiet"] + backend, (2, 3),
               mentions=["memory", "rows", "grid"])
    yield Case("absurd devices", solve + ["--devices", "99999999999"], (2,), files, ["devices"])
    yield Case("absurd restart", solve + ["--solver", "gmres", "--restart", "2147483647"], (0, 2), files, ["restart"])
    yield Case("absurd iterations", solve + ["--max-iterations", "9223372036854775808"], (2,), files, ["iterations"])
    yield Case("history of absurd length", solve + ["--max-iterations", "9223372036854775806", "--history", "h.csv"],
               (0, 2, 3, 4), files, outputs=["h.csv"])
