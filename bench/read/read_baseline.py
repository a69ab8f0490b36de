"""Reads a Matrix Market file once by SciPy or fast_matrix_market, for krylith bench read.

read_baseline.py scipy|fast_matrix_market [FILE]; prints one line of JSON. Without a file it only
imports the reader, and fails where there is none.
"""

import json
import sys
import time


def status(name):
    with open("/proc/self/status", encoding="ascii") as lines:
        for line in lines:
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
    raise KeyError(name)


def main():
    if sys.argv[1] == "scipy":
        import scipy
        from scipy.io import mmread

        version = scipy.__version__
    elif sys.argv[1] == "fast_matrix_market":
        import fast_matrix_market

        mmread = fast_matrix_market.mmread
        version = fast_matrix_market.__version__
    else:
        raise SystemExit(f"'{sys.argv[1]}' is neither scipy nor fast_matrix_market")
    import scipy.sparse  # not on the clock

    if len(sys.argv) == 2:
        return
    with open("/proc/self/clear_refs", "w", encoding="ascii") as peak:
        peak.write("5")  # imports may have needed more than remains
    before = status("VmRSS")
    cpu_before = time.process_time()
    begin = time.perf_counter()
    coo = mmread(sys.argv[2])
    read = time.perf_counter()
    csr = scipy.sparse.csr_matrix(coo)
    end = time.perf_counter()
    print(
        json.dumps(
            {
                "seconds": end - begin,
                "seconds_to_coo": read - begin,
                "cpu_seconds": time.process_time() - cpu_before,
                "peak_bytes": status("VmHWM") - before,
                "rows": csr.shape[0],
                "nnz": csr.nnz,
                "sum": float(csr.data.sum()),
                "version": version,
            }
        )
    )


main()
