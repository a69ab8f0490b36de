"""Matrix Market files that are damaged, absurd or no files at all."""
import gzip
import os

from runner import Case

GOOD = (b"%%MatrixMarket matrix coordinate real general\n% a comment\n3 3 5\n"
        b"1 1 4.5\n2 2 5.25\n3 3 6.5\n1 2 -1.5\n2 1 -1.5\n")
VECTOR = b"%%MatrixMarket matrix array real general\n3 1\n1.5\n2.5\n3.5\n"
HEAD = b"%%MatrixMarket matrix coordinate real general\n"
ARRAY = b"%%MatrixMarket matrix array real general\n"
LIMIT = 'ulimit -v 3000000; exec "$@"'

DAMAGED = {
    "empty": b"",
    "one-byte": b"%",
    "line-feeds": b"\n" * 1000,
    "no-header": b"3 3 1\n1 1 1\n",
    "wrong-word-1": b"%%MatrixMarkt matrix coordinate real general\n1 1 1\n1 1 1\n",
    "wrong-word-2": b"%%MatrixMarket matrux coordinate real general\n1 1 1\n1 1 1\n",
    "wrong-word-3": b"%%MatrixMarket matrix coordinat real general\n1 1 1\n1 1 1\n",
    "wrong-word-4": b"%%MatrixMarket matrix coordinate reel general\n1 1 1\n1 1 1\n",
    "wrong-word-5": b"%%MatrixMarket matrix coordinate real generall\n1 1 1\n1 1 1\n",
    "header-cut": b"%%MatrixMarket matrix coordinate\n1 1 1\n1 1 1\n",
    "header-more": b"%%MatrixMarket matrix coordinate real general more\n1 1 1\n1 1 1\n",
    "complex": b"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n",
    "hermitian": b"%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 1 0\n",
    "real-hermitian": b"%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n",
    "pattern-array": b"%%MatrixMarket matrix array pattern general\n1 1\n",
    "no-sizes": HEAD,
    "comments-only": HEAD + b"% and no more\n" * 1000,
    "two-sizes": HEAD + b"3 3\n1 1 1\n",
    "four-sizes": HEAD + b"3 3 1 7\n1 1 1\n",
    "size-words": HEAD + b"three 3 1\n1 1 1\n",
    "size-negative-rows": HEAD + b"-3 3 1\n1 1 1\n",
    "size-negative-entries": HEAD + b"3 3 -1\n1 1 1\n",
    "size-zero-columns": HEAD + b"3 0 1\n1 1 1\n",
    "size-real": HEAD + b"3.0 3 1\n1 1 1\n",
    "rows-2e31": HEAD + b"2147483648 2147483648 1\n1 1 1\n",
    "rows-2e63": HEAD + b"9223372036854775808 9223372036854775808 1\n1 1 1\n",
    "rows-1e30": HEAD + b"1" + b"0" * 30 + b" 3 1\n1 1 1\n",
    "entries-1e12": HEAD + b"3000000 3000000 1000000000000\n1 1 1\n",
    "entries-2e63": HEAD + b"3 3 9223372036854775807\n1 1 1\n",
    "entries-2e64": HEAD + b"3 3 18446744073709551616\n1 1 1\n",
    "entries-missing": HEAD + b"3 3 9\n1 1 1\n",
    "entries-more": HEAD + b"3 3 1\n1 1 1\n2 2 1\n",
    "row-zero": HEAD + b"3 3 1\n0 1 1\n",
    "row-beyond": HEAD + b"3 3 1\n4 1 1\n",
    "row-negative": HEAD + b"3 3 1\n-1 1 1\n",
    "column-beyond": HEAD + b"3 3 1\n1 4 1\n",
    "column-2e32": HEAD + b"3 3 1\n1 4294967297 1\n",
    "column-2e64": HEAD + b"3 3 1\n1 18446744073709551617 1\n",
    "value-missing": HEAD + b"3 3 1\n1 1\n",
    "value-extra": HEAD + b"3 3 1\n1 1 1 1\n",
    "value-nan": HEAD + b"1 1 1\n1 1 nan\n",
    "value-inf": HEAD + b"1 1 1\n1 1 inf\n",
    "value-minus-inf": HEAD + b"1 1 1\n1 1 -Infinity\n",
    "value-1e400": HEAD + b"1 1 1\n1 1 1e400\n",
    "value-hex": HEAD + b"1 1 1\n1 1 0x10\n",
    "value-fortran": HEAD + b"1 1 1\n1 1 1,5\n",
    "value-sign": HEAD + b"1 1 1\n1 1 +-1\n",
    "value-word": HEAD + b"1 1 1\n1 1 one\n",
    "value-exponent": HEAD + b"1 1 1\n1 1 1e\n",
    "value-digits": HEAD + b"1 1 1\n1 1 " + b"9" * 5000 + b"\n",
    "nul-in-header": b"%%MatrixMarket\0matrix coordinate real general\n1 1 1\n1 1 1\n",
    "nul-in-size": HEAD + b"1 1 \0001\n1 1 1\n",
    "nul-in-value": HEAD + b"1 1 1\n1 1 1\0\n",
    "nuls": b"\0" * 4096,
    "utf-16": GOOD.decode().encode("utf-16"),
    "upper-triangle-in-skew": b"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 5\n",
    "symmetric-not-square": b"%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n",
    "not-square": HEAD + b"2 3 1\n1 1 1\n",
    "array-missing": ARRAY + b"2 2\n1\n2\n3\n",
    "array-more": ARRAY + b"2 2\n1\n2\n3\n4\n5\n",
    "array-huge": ARRAY + b"1000000000 1000000000\n1\n",
    "binary": bytes(range(256)) * 64,
    "elf": b"\x7fELF" + bytes(range(256)) * 8,
    "escape-in-line": HEAD + b"1 1 1\n1 1 \x1b[31mred\x1b[0m\n",
    "long-line": HEAD + b"1 1 1\n1 1 1" + b" " * 3000000 + b"x\n",
    "long-word": b"%%MatrixMarket " + b"m" * 3000000 + b"\n",
    "integer-with-real": b"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n",
}

# These files are odd, but a matrix all the same: read, or refused with a message.
ODD = {
    "crlf": GOOD.replace(b"\n", b"\r\n"),
    "cr": GOOD.replace(b"\n", b"\r"),
    "bom": b"\xef\xbb\xbf" + GOOD,
    "tabs": GOOD.replace(b" ", b"\t", 4),
    "blank-lines": GOOD.replace(b"\n", b"\n\n"),
    "no-last-line-feed": GOOD[:-1],
    "upper-case": GOOD.replace(b"matrix coordinate real general", b"MATRIX COORDINATE REAL GENERAL"),
    "subnormal": HEAD + b"1 1 1\n1 1 1e-310\n",
    "value-1e-400": HEAD + b"1 1 1\n1 1 1e-400\n",
    "pattern-with-value": b"%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1 1\n",
    "zero-by-zero": HEAD + b"0 0 0\n",
    "duplicates": HEAD + b"1 1 3\n1 1 1\n1 1 1\n1 1 1\n",
}


def fifo(path):
    os.mkfifo(path)


def loop(path):
    os.symlink(os.path.basename(path), path)


def damaged_cases(backend):
    for number, (name, text) in enumerate(sorted(DAMAGED.items())):
        verb = [["solve", "bad.mtx", "--quiet"] + backend, ["info", "bad.mtx"], ["convert", "bad.mtx", "out.mtx"]]
        command = verb[number % 3]
        if name == "not-square":
            command = verb[0] + ["--solver", "cg"]  # `auto` takes least squares
        yield Case("damaged: " + name, command, (2, 3) if name == "not-square" else (3,), {"bad.mtx": text},
                   ["bad.mtx"], ["bad.mtx"], shell=LIMIT)
    for name, text in sorted(ODD.items()):
        # A b of 1 and a value of 1e-310 make x exceed the range.
        allowed = (0, 1, 3) if name in ("subnormal", "value-1e-400") else (0, 3)
        yield Case("odd: " + name, ["solve", "odd.mtx", "--quiet"] + backend, allowed, {"odd.mtx": text},
                   ["odd.mtx"])


def truncated_cases(backend):
    for end in range(0, len(GOOD) - 1, 5):
        last_value = end > len(GOOD) - 5
        yield Case(f"truncated at {end}", ["solve", "cut.mtx", "--quiet"] + backend,
                   (0, 3) if last_value else (3,), {"cut.mtx": GOOD[:end]}, ["cut.mtx"])
    packed = gzip.compress(GOOD, mtime=0)
    for end in (0, 1, 2, 5, 10, 12, 20, len(packed) // 2, len(packed) - 8, len(packed) - 4, len(packed) - 1):
        yield Case(f"gz truncated at {end}", ["info", "cut.mtx.gz"], (3,), {"cut.mtx.gz": packed[:end]},
                   ["cut.mtx.gz"])
    for place in (0, 2, 3, 11, 25, len(packed) // 2, len(packed) - 7, len(packed) - 2):
        broken = bytearray(packed)
        broken[place] ^= 0xFF
        yield Case(f"gz damaged at {place}", ["info", "bad.mtx.gz"], (0, 3) if place in (3,) else (3,),
                   {"bad.mtx.gz": bytes(broken)}, ["bad.mtx.gz"])


def bomb_cases():
    zeros = gzip.compress(bytes(100_000_000), 1, mtime=0)
    spaces = gzip.compress(HEAD + b"%" + b" " * 100_000_000, 1, mtime=0)
    numbers = gzip.compress(HEAD + b"1000 1000 99999999\n" + b"1 1 1\n" * 10_000_000, 1, mtime=0)
    for name, text in (("zeros", zeros), ("one comment", spaces), ("numbers", numbers)):
        yield Case("gz bomb: " + name, ["info", "bomb.mtx.gz"], (3,), {"bomb.mtx.gz": text}, ["bomb.mtx.gz"],
                   shell=LIMIT)


def vector_cases(backend):
    solve = ["solve", "a.mtx", "--quiet"] + backend
    vectors = {
        "too short": ARRAY + b"2 1\n1\n2\n",
        "too long": ARRAY + b"4 1\n1\n2\n3\n4\n",
        "columns that are too short": ARRAY + b"2 2\n1\n2\n3\n4\n",
        "nan": ARRAY + b"3 1\n1\nnan\n3\n",
        "huge": ARRAY + b"9223372036854775807 1\n1\n",
        "empty": b"",
        "a word": b"hello\n",
        "truncated": VECTOR[:-8],
        "a matrix": GOOD,
    }
    for option in ("--rhs", "--x0"):
        for name, text in vectors.items():
            yield Case(f"{option}: {name}", solve + [option, "b.mtx"], (2, 3), {"a.mtx": GOOD, "b.mtx": text},
                       ["b.mtx"], ["a.mtx", "b.mtx"])
    for name in ("ones:", "random:", "random:x", "random:-1", "random:99999999999999999999", "", "/dev/null"):
        yield Case(f"--rhs {name!r}", solve + ["--rhs", name], (2, 3), {"a.mtx": GOOD}, ["rhs", "random", name])


def place_cases(backend):
    """Paths that aren't regular files."""
    solve = lambda name: ["solve", name, "--quiet"] + backend
    yield Case("missing", solve("none.mtx"), (3,), mentions=["none.mtx"])
    yield Case("a folder", solve("d.mtx"), (3,), {"d.mtx": os.mkdir}, ["d.mtx"])
    yield Case("a symbolic loop", solve("l.mtx"), (3,), {"l.mtx": loop}, ["l.mtx"])
    yield Case("a file as a folder", solve("a.mtx/b.mtx"), (3,), {"a.mtx": GOOD}, ["a.mtx/b.mtx"])
    yield Case("a long name", solve("n" * 5000 + ".mtx"), (3,))
    yield Case("an empty name", solve(""), (2, 3))
    for device in ("/dev/null", "/dev/full", "/dev/zero"):
        yield Case(device, solve(device), (2, 3), mentions=[device], shell=LIMIT)
        yield Case(device + " by info", ["info", device], (2, 3), mentions=[device], shell=LIMIT)
    yield Case("/dev/zero as .kcsr", ["info", "z.kcsr"], (3,),
               {"z.kcsr": lambda path: os.symlink("/dev/zero", path)}, ["z.kcsr"], shell=LIMIT)
    if os.path.exists("/proc/kmsg") and os.access("/proc/kmsg", os.R_OK):
        yield Case("/proc/kmsg", solve("/proc/kmsg"), (2, 3), mentions=["/proc/kmsg"])
    yield Case("/proc/self/mem", solve("/proc/self/mem"), (2, 3), mentions=["/proc/self/mem"])
    yield Case("an escape sequence in a name", solve("a\x1b[31mred.mtx"), (3,))
    yield Case("a line feed in a name", solve("a\nkrylith: all is well.mtx"), (3,))
    yield Case("an escape sequence in a name that is there", solve("a\x1b]0;b.mtx"), (3,), {"a\x1b]0;b.mtx": b"x"})
    yield Case("bytes that aren't UTF-8", solve("a\udcff\udcfe.mtx"), (3,))


def cases(backend):
    for part in (damaged_cases(backend), truncated_cases(backend), bomb_cases(), vector_cases(backend),
                 place_cases(backend)):
        yield from part
