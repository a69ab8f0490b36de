#!/usr/bin/env python3
"""Writes the files of this folder: python3 make_golden.py, with NumPy 2.4 and SciPy 1.17.

The tests compare what is read with A and b below. PETSc's files are written here by its documented layout
(https://petsc.org/release/manualpages/Mat/MatLoad/), since its own Python interface needs a whole PETSc.
"""
import gzip
import struct

import numpy as np
import scipy.io
import scipy.sparse as sp

A = np.array([[1, 0, 2.5, 0], [0, -3, 0, 0], [4, 0, 0, 0.001]])
S = np.array([[4, -1, 0], [-1, 4, -1.5], [0, -1.5, 4]])
b = np.array([0.1, -2, 3e300])
csr = sp.csr_matrix(A)

sp.save_npz("csr_deflated.npz", csr)
sp.save_npz("csr_stored.npz", csr, compressed=False)
sp.save_npz("csc.npz", sp.csc_matrix(A))
sp.save_npz("csr_array.npz", sp.csr_array(A))
sp.save_npz("coo_twice.npz",
            sp.coo_matrix(([1, 2.5, -3, 3, 0.001, 1], ([0, 0, 1, 2, 2, 2], [0, 2, 1, 0, 3, 0])), (3, 4)))
unsorted = csr.copy()
unsorted.indices[:2], unsorted.data[:2] = [2, 0], [2.5, 1]
unsorted.has_sorted_indices = False
sp.save_npz("csr_unsorted.npz", unsorted)
wide = csr.copy()
wide.indices, wide.indptr = wide.indices.astype("i8"), wide.indptr.astype("i8")
np.savez("csr_int64_big_endian.npz", indices=wide.indices.astype(">i8"), indptr=wide.indptr, format="csr",
         shape=A.shape, data=wide.data.astype(">f8"))
sp.save_npz("csr_float32.npz", csr.astype("f4"))
sp.save_npz("csr_int8.npz", sp.csr_matrix(np.array([[1, 0, -2], [0, 3, 0]], dtype="i1")))
sp.save_npz("bsr.npz", sp.bsr_matrix(np.eye(4), blocksize=(2, 2)))
sp.save_npz("csr_complex.npz", sp.csr_matrix(A.astype(complex)))
sp.save_npz("empty.npz", sp.csr_matrix((0, 0)))
np.savez("vector.npz", b)
np.save("vector.npy", b)
np.save("vector_float32.npy", np.array([0.5, -2, 3], dtype="f4"))
np.save("column_big_endian.npy", b.astype(">f8").reshape(3, 1))
np.save("dense.npy", A)
np.save("dense_by_columns.npy", np.asfortranarray(A))
np.save("complex.npy", b.astype(complex))
with gzip.GzipFile("vector.npy.gz", "wb", mtime=0) as file:
    file.write(open("vector.npy", "rb").read())


def petsc(name, *pieces):
    with open(name, "wb") as file:
        file.write(b"".join(pieces))


def matrix(a, index="i", value="d"):
    lengths = np.diff(a.indptr)
    return (struct.pack(f">4{index}", 1211216, *a.shape, a.nnz) + struct.pack(f">{len(lengths)}{index}", *lengths)
            + struct.pack(f">{a.nnz}{index}", *a.indices) + struct.pack(f">{a.nnz}{value}", *a.data))


def vector(x, index="i", value="d"):
    return struct.pack(f">2{index}", 1211214, len(x)) + struct.pack(f">{len(x)}{value}", *x)


petsc("matrix.petsc", matrix(csr))
petsc("matrix_and_vector.petsc", matrix(csr), vector(b))
petsc("vector.petsc", vector(b))
petsc("matrix_int64.petsc", matrix(csr, "q"))
petsc("vector_int64.petsc", vector(b, "q"))
petsc("matrix_single.petsc", matrix(csr, "i", "f"))
petsc("vector_complex.petsc", vector(np.array([1, 0, 2, 0, 3, 0.0]))[:4] + struct.pack(">i", 3) +
      struct.pack(">6d", 1, 0, 2, 0, 3, 0))

scipy.io.hb_write("harwell_boeing.rua", sp.csc_matrix(A))
cards = ["many cards", *open("harwell_boeing.rua").read().splitlines()[1:3], "(5I4)           (5I4)           (3E24.16)",
         "   1   3   4   5   6", "   1   3   2   1   3",
         "  1.0000000000000000E+00  4.0000000000000000E+00 -3.0000000000000000E+00",
         "  2.5000000000000000E+00  1.0000000000000000E-03"]
with open("numbered_cards.rua", "w") as file:
    file.writelines(f"{card:<72}{k:08d}\n" for k, card in enumerate(cards, 1))

B = np.array([[0.1, 4], [-2, 5], [3e300, 6]])
np.save("columns.npy", B)
np.save("columns_by_columns.npy", np.asfortranarray(B))
np.save("columns_float32.npy", np.array([[0.5, 4], [-2, 5], [3, 6]], dtype="f4"))
np.savez("columns.npz", B)
np.save("cube.npy", np.ones((2, 2, 2)))
scipy.io.mmwrite("unsigned.mtx", sp.coo_matrix(np.array([[4, 1, 0], [1, 3, 0], [0, 0, 2]], dtype="u4")))
scipy.io.mmwrite("dense_symmetric.mtx", S)

entries = [(i, j, A[i, j]) for i, j in zip(*np.nonzero(A))]


def market(name, head, lines):
    with open(name, "w") as file:
        file.write(head + "".join(line + "\n" for line in lines))


# MUMPS (dmumps_dump_matrix.F) and AmgX (matrix_io.cu) need a GPU or Fortran: by their sources.
real = "%%MatrixMarket matrix coordinate real general\n"
market("mumps.mtx", " " + real, [f"{3:12}{4:12}{5:12}"] + [f"{i + 1:12}{j + 1:12}  {v:.16f}     " for i, j, v in entries])
market("amgx.mtx", real + "%%NVAMG 1 1 sorted rhs solution\n",
       ["3 4 5"] + [f"{i + 1} {j + 1} {v:.16e}" for i, j, v in entries]
       + ["3"] + [f"{v:.16e}" for v in b] + ["4"] + ["0.0000000000000000e+00"] * 4)
market("amgx_base0.mtx", real + "%%AMGX base0\n", ["3 4 5"] + [f"{i} {j} {v:.16e}" for i, j, v in entries])
