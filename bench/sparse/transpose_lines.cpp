#include <krylith/bench/sparse/transpose_lines.hpp>

#include <string>

#include <krylith/bench/common/measurement_failed.hpp>
#include <krylith/bench/sparse/sparse_timing.hpp>
#include <krylith/bench/sparse/transpose_peers.hpp>
#include <krylith/config.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/sparse/transpose.hpp>

namespace krylith::bench {

namespace {

/// The plain loop, on one thread: another code than all that is measured.
template <class T>
csr_matrix<T> plain_transpose(const csr_matrix<T>& a) {
    const auto columns = static_cast<std::size_t>(a.columns);
    csr_matrix<T> t{a.columns, a.rows, std::vector<std::int64_t>(columns + 1), {}, {}};
    for (const std::int32_t c : a.column_indices) ++t.row_offsets[static_cast<std::size_t>(c) + 1];
    for (std::size_t c = 0; c < columns; ++c) t.row_offsets[c + 1] += t.row_offsets[c];
    t.column_indices.resize(a.column_indices.size());
    t.values.resize(a.values.size());
    std::vector<std::int64_t> next = t.row_offsets;
    for (std::int64_t row = 0; row < a.rows; ++row)
        for (std::int64_t k = a.row_offsets.data()[row]; k < a.row_offsets.data()[row + 1]; ++k) {
            const std::int64_t place = next.data()[a.column_indices.data()[k]]++;
            t.column_indices.data()[place] = static_cast<std::int32_t>(row);
            t.values.data()[place] = a.values.data()[k];
        }
    return t;
}

template <class T>
void need_same(const csr_matrix<T>& found, const csr_matrix<T>& expected, const char* what) {
    if (found != expected)
        throw measurement_failed(std::string(what) + ": not the matrix of a plain loop");
}

sparse_line transpose_line(const char* variant, const repeated_seconds& seconds, std::int64_t bytes,
                           std::int64_t memory) {
    sparse_line line;
    line.kernel = "transpose";
    line.variant = variant;
    line.seconds = seconds.median;
    line.least = seconds.least;
    line.bytes = bytes;
    line.memory = memory;
    return line;
}

/// Times the other library on the device's kind.
template <class T>
void add_peer(sparse_line& line, const sparse_case<T>& c) {
#if KRYLITH_HAVE_CUDA
    if (c.on->kind() == backend::cuda) {
        line.peer = "cusparse";
        line.peer_seconds = cusparse_transpose_seconds(c.on, c.repeats, c.matrix);
        return;
    }
#endif
    line.peer = "eigen";
    line.peer_seconds = eigen_transpose_seconds(*c.on, c.repeats, c.matrix);
}

} // namespace

template <class T>
std::vector<sparse_line> transpose_lines(const sparse_case<T>& c) {
    constexpr auto value = static_cast<std::int64_t>(sizeof(T));
    const csr_matrix<T>& m = c.matrix;
    const csr_matrix<T> expected = plain_transpose(m);
    const device_csr<T> a(c.on, csr_view<T>(m));
    // Both matrices, once.
    const std::int64_t bytes = 8 * (m.rows + m.columns + 2) + 2 * (4 + value) * m.nnz();

    device_csr<T> transposed;
    sparse_line whole = transpose_line(
        "with values", time_runs(*c.on, c.repeats, [&] { transposed = transpose(a); }), bytes, 0);
    need_same(transposed.download(), expected, "transpose()");
    if (c.peers) add_peer(whole, c);
    std::vector<sparse_line> lines = {whole};

    transposition order;
    const repeated_seconds found = time_runs(*c.on, c.repeats, [&] { order = transposition(a); });
    lines.push_back(transpose_line("as a permutation", found,
                                   8 * (m.rows + m.columns + 2) + 12 * m.nnz(), order.bytes()));
    transposed = order.take(a);
    const repeated_seconds applied =
        time_runs(*c.on, c.repeats, [&] { order.apply(a, transposed); });
    lines.push_back(
        transpose_line("new values", applied, (4 + 2 * value) * m.nnz(), order.bytes()));
    lines.back().set_up = found.median;
    need_same(transposed.download(), expected, "transposition");

    if (c.on->kind() == backend::host) {
        csr_matrix<T> result;
        lines.push_back(transpose_line(
            "csr_matrix", time_runs(*c.on, c.repeats, [&] { result = transpose(m); }), bytes, 0));
        need_same(result, expected, "transpose(csr_matrix)");
    }
    return lines;
}

template std::vector<sparse_line> transpose_lines(const sparse_case<double>&);
template std::vector<sparse_line> transpose_lines(const sparse_case<float>&);

} // namespace krylith::bench
