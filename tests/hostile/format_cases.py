"""Files of SciPy, PETSc and Rutherford-Boeing, damaged, truncated and full of lies; standard input."""
import gzip
import io
import os
import struct
import zipfile

from market_cases import GOOD, LIMIT
from runner import Case

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "matrix", "golden")


def npy(kind, shape, items):
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text) + 1) + text + b"\n" + items


def npz(deflated=False, **members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(name + ".npy", content)
    return file.getvalue()


def ints(*numbers):
    return npy("<i8", f"({len(numbers)},)", struct.pack(f"<{len(numbers)}q", *numbers))


def csr(**changed):
    members = {"format": npy("|S3", "()", b"csr"), "shape": ints(2, 2), "indptr": ints(0, 1, 2),
               "indices": ints(0, 1), "data": npy("<f8", "(2,)", struct.pack("<2d", 2, 3))}
    members.update(changed)
    return npz(**{name: content for name, content in members.items() if content is not None})


def bomb():
    """Says that it has 2^40 zeros, and has a GiB of them."""
    file = io.BytesIO()
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=9) as packed:
        packed.write(b"\x93NUMPY\x01\x00" + b"\0" * 16)
        for _ in range(1100):
            packed.write(b"\0" * (1 << 20))
    return file.getvalue()


def petsc(*numbers, values=()):
    return struct.pack(f">{len(numbers)}i", *numbers) + struct.pack(f">{len(values)}d", *values)


LIES = {
    "shape.npz": csr(shape=ints(2, 3, 4)),
    "negative.npz": csr(shape=ints(-2, 2)),
    "huge-shape.npz": csr(shape=ints(2**62, 2)),
    "wide-shape.npz": csr(shape=ints(2, 2**40)),
    "word.npz": csr(format=npy("|S4096", "()", b"x" * 4096)),
    "bytes.npz": csr(data=npy("<f8", "(2,)", b"\0" * 15)),
    "many.npz": csr(data=npy("<f8", "(4611686018427387904,)", b"\0" * 16)),
    "many-dimensions.npz": csr(data=npy("<f8", "(" + "4294967296, " * 30 + ")", b"\0" * 16)),
    "no-data.npz": csr(data=None),
    "text.npz": csr(indices=npy("|S8", "(2,)", b"01234567" * 2)),
    "real-indices.npz": csr(indices=npy("<f8", "(2,)", struct.pack("<2d", 0, 1))),
    "columns.npz": csr(indices=ints(0, 2)),
    "negative-columns.npz": csr(indices=ints(0, -1)),
    "descending.npz": csr(indptr=ints(0, 2, 1)),
    "beyond.npz": csr(indptr=ints(0, 1, 3)),
    "not-from-0.npz": csr(indptr=ints(1, 1, 2)),
    "objects.npz": csr(data=npy("|O", "(2,)", b"\x80\x04K\x01.")),
    "fields.npz": csr(data=b"\x93NUMPY\x01\x00\x40\x00{'descr': [('a', '<f8')], 'fortran_order': False}" + b" " * 32),
    "coo-rows.npz": npz(format=npy("|S3", "()", b"coo"), shape=ints(2**31 - 1, 1), row=ints(), col=ints(),
                        data=npy("<f8", "(0,)", b"")),
    "nothing.npz": npz(),
    "length.petsc": petsc(1211214, 2**31 - 1, values=[1]),
    "negative.petsc": petsc(1211214, -3, values=[1, 2, 3]),
    "rows.petsc": petsc(1211216, 2**31 - 1, 1, 1, 1, 0, values=[1]),
    "row-lengths.petsc": petsc(1211216, 2, 2, 2, -1, 3, 0, 1, values=[1, 2]),
    "columns.petsc": petsc(1211216, 1, 1, 1, 1, 7, values=[1]),
    "class.petsc": petsc(1211217, 1, values=[1]),
    "behind.petsc": petsc(1211216, 1, 1, 1, 1, 0, values=[1]) + b"behind it",
    "entries.rb": (b"t\n 4 1 1 2\nrua 3 3 999999999999 0\n(4I3)           (6I2)           (4E9.2)\n  1  2  3  4\n"),
    "columns.rb": b"t\n 4 1 1 2\nrua 3 2147483647 1 0\n(4I3) (6I2) (4E9.2)\n  1  2  3  4\n",
    "format.rb": b"t\n 4 1 1 2\nrua 1 1 1 0\n(65535(65535(I1))) (6I2) (4E9.2)\n1\n",
    "words.txt": b"1 2 three\n",
}


def stdin(name):
    return f'exec "$@" < {name}'


def cases(backend):
    solve = lambda name: ["solve", name, "--quiet"] + backend
    for name, content in LIES.items():
        yield Case(f"lies: {name}", ["info", name, "--quiet"], (3,), {name: content}, [name], shell=LIMIT)
    for name in ("words.txt", "length.petsc", "negative.petsc", "nothing.npz"):
        yield Case(f"--rhs: lies: {name}", solve("a.mtx") + ["--rhs", name], (3,), {"a.mtx": GOOD, name: LIES[name]},
                   [name], shell=LIMIT)
    yield Case("a gzipped array that is a bomb", ["info", "a.npy.gz", "--quiet"], (3,), {"a.npy.gz": bomb()},
               ["a.npy.gz"], shell=LIMIT, seconds=60)
    for name in sorted(os.listdir(GOLDEN)):
        with open(os.path.join(GOLDEN, name), "rb") as file:
            good = file.read()
        if name.endswith(".py"):
            continue
        for end in range(1, len(good) - 1, max(1, len(good) // 5)):
            yield Case(f"{name} truncated at {end}", ["info", name, "--quiet"], (0, 3), {name: good[:end]}, [name])
        for place in range(3, len(good), max(1, len(good) // 5)):
            broken = bytearray(good)
            broken[place] ^= 0x41
            yield Case(f"{name} damaged at {place}", ["info", name, "--quiet"], (0, 3), {name: bytes(broken)}, [name],
                       [name])
    for name, content in (("empty", b""), ("nuls", b"\0" * 4096), ("damaged", GOOD[:60]), ("gzip", b"\x1f\x8b\x08")):
        yield Case(f"standard input: {name}", solve("-"), (3,), {"a": content}, ["standard input"], shell=stdin("a"))
    yield Case("standard input: a matrix", solve("-"), (0,), {"a": GOOD}, shell=stdin("a"))
    yield Case("standard input: a matrix, gzipped", solve("-"), (0,), {"a": gzip.compress(GOOD)}, shell=stdin("a"))
    yield Case("standard input that is closed", solve("-"), (3,), {}, ["standard input"], shell='exec "$@" <&-')
    yield Case("standard input that is a folder", solve("-"), (3,), {"d": os.mkdir}, ["standard input"],
               shell=stdin("d"))
    yield Case("standard input without end", solve("-"), (3, 4), {}, ["memory"],
               shell='ulimit -v 3000000; exec "$@" < /dev/zero', seconds=60)
    yield Case("standard input twice", solve("-") + ["--rhs", "-"], (2,), {"a": GOOD}, ["standard input"],
               shell=stdin("a"))
