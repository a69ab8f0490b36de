"""From CSR arrays in host memory to the answer by CuPy, for krylith bench total.

total_cupy.py [FOLDER RTOL REPETITIONS]; prints one line of JSON. Without arguments it only imports
CuPy and looks for a GPU, and fails where there is none. FOLDER has offsets.bin (int64), columns.bin
(int32) and values.bin (float64). Times are those after one whole call that is thrown away.
"""

import inspect
import json
import os
import sys
import time


def main():
    import cupy
    import cupyx.scipy.sparse
    import cupyx.scipy.sparse.linalg
    import numpy

    cupy.cuda.Device().synchronize()
    if len(sys.argv) == 1:
        return
    folder, rtol, repetitions = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    offsets = numpy.fromfile(os.path.join(folder, "offsets.bin"), dtype=numpy.int64)
    columns = numpy.fromfile(os.path.join(folder, "columns.bin"), dtype=numpy.int32)
    values = numpy.fromfile(os.path.join(folder, "values.bin"), dtype=numpy.float64)
    if len(values) < 2**31:
        offsets = offsets.astype(numpy.int32)  # not on the clock: CuPy wants equal types
    else:
        columns = columns.astype(numpy.int64)
    n = len(offsets) - 1
    b = numpy.ones(n)
    cg = cupyx.scipy.sparse.linalg.cg
    tolerance = "rtol" if "rtol" in inspect.signature(cg).parameters else "tol"

    def solve(callback=None):
        begin = time.perf_counter()
        arrays = [cupy.asarray(array) for array in (values, columns, offsets)]
        matrix = cupyx.scipy.sparse.csr_matrix(tuple(arrays), shape=(n, n))
        cupy.cuda.Device().synchronize()
        made = time.perf_counter()
        rhs = cupy.asarray(b)
        cupy.cuda.Device().synchronize()
        uploaded = time.perf_counter()
        x, info = cg(matrix, rhs, maxiter=10000, callback=callback, **{tolerance: rtol})
        cupy.cuda.Device().synchronize()
        solved = time.perf_counter()
        cupy.asnumpy(x)
        end = time.perf_counter()
        residual = float(cupy.linalg.norm(rhs - matrix @ x) / cupy.linalg.norm(rhs))
        return (made - begin, uploaded - made, solved - uploaded, end - begin), info, residual

    steps = []
    _, info, residual = solve(lambda _: steps.append(1))  # thrown away
    times = [solve()[0] for _ in range(repetitions)]
    print(
        json.dumps(
            {
                "version": cupy.__version__,
                "iterations": len(steps),
                "converged": info == 0,
                "relative_residual": residual,
                "make matrix": [t[0] for t in times],
                "upload b": [t[1] for t in times],
                "solve": [t[2] for t in times],
                "total": [t[3] for t in times],
            }
        )
    )


if __name__ == "__main__":
    main()
