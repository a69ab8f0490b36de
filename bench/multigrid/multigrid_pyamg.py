"""From CSR arrays in host memory to the answer by PyAMG, for krylith bench multigrid.

multigrid_pyamg.py [FOLDER RTOL REPETITIONS]; prints one line of JSON. Without arguments it only
imports PyAMG, and fails where there is none. FOLDER has offsets.bin (int64), columns.bin (int32),
values.bin and rhs.bin (float64). Times are those after one whole call that is thrown away: smoothed
aggregation with its defaults, and CG with one cycle of it, until ||b - A x|| <= RTOL ||b||.
"""

import json
import os
import sys
import time


def main():
    import numpy
    import pyamg
    import scipy.sparse

    if len(sys.argv) == 1:
        return
    folder, rtol, repetitions = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    offsets = numpy.fromfile(os.path.join(folder, "offsets.bin"), dtype=numpy.int64)
    columns = numpy.fromfile(os.path.join(folder, "columns.bin"), dtype=numpy.int32)
    values = numpy.fromfile(os.path.join(folder, "values.bin"), dtype=numpy.float64)
    b = numpy.fromfile(os.path.join(folder, "rhs.bin"), dtype=numpy.float64)
    n = len(offsets) - 1
    if len(values) < 2**31:
        offsets = offsets.astype(numpy.int32)  # not on the clock: PyAMG wants equal types
    matrix = scipy.sparse.csr_matrix((values, columns, offsets), shape=(n, n))

    def solve():
        begin = time.perf_counter()
        levels = pyamg.smoothed_aggregation_solver(matrix)
        made = time.perf_counter()
        residuals = []
        x = levels.solve(b, tol=rtol, accel="cg", residuals=residuals, maxiter=10000)
        end = time.perf_counter()
        return (made - begin, end - made, end - begin), len(residuals) - 1, x, levels

    _, iterations, x, levels = solve()  # thrown away
    residual = float(numpy.linalg.norm(b - matrix @ x) / numpy.linalg.norm(b))
    times = [solve()[0] for _ in range(repetitions)]
    print(
        json.dumps(
            {
                "version": pyamg.__version__,
                "iterations": iterations,
                "relative_residual": residual,
                "operator_complexity": float(levels.operator_complexity()),
                "set-up": [t[0] for t in times],
                "solve": [t[1] for t in times],
                "total": [t[2] for t in times],
            }
        )
    )


if __name__ == "__main__":
    main()
