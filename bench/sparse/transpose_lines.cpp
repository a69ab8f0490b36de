#include <krylith/bench/sparse/transpose_lines.hpp>

#include <krylith/bench/sparse/sparse_timing.hpp>
#include <krylith/bench/sparse/transpose_peers.hpp>
#include <krylith/matrix/conversions.hpp>

namespace krylith::bench {

template <class T>
std::vector<sparse_line> transpose_lines(const sparse_case<T>& c) {
    sparse_line line;
    line.kernel = "transpose";
    line.variant = "conversion";
    csr_matrix<T> result;
    const repeated_seconds ours =
        time_runs(*c.on, c.repeats, [&] { result = transpose(c.matrix); });
    line.seconds = ours.median;
    line.least = ours.least;
    if (c.peers) {
        line.peer = "eigen";
        line.peer_seconds = eigen_transpose_seconds(*c.on, c.repeats, c.matrix);
    }
    return {line};
}

template std::vector<sparse_line> transpose_lines(const sparse_case<double>&);
template std::vector<sparse_line> transpose_lines(const sparse_case<float>&);

} // namespace krylith::bench
