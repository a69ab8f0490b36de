#include <krylith/bench/sparse/lengths_lines.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <krylith/bench/sparse/format_measure.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>

namespace krylith::bench {

namespace {

template <class T>
csr_matrix<T> with_offsets(const csr_matrix<T>& a, std::vector<std::int64_t> offsets) {
    csr_matrix<T> result = a;
    result.row_offsets = std::move(offsets);
    return result;
}

} // namespace

std::vector<std::int64_t> equal_offsets(std::int64_t rows, std::int64_t nonzeros) {
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(rows) + 1);
    const std::int64_t whole = rows > 0 ? nonzeros / rows : 0;
    const std::int64_t rest = nonzeros - whole * rows;
    for (std::int64_t row = 0; row <= rows; ++row)
        offsets[static_cast<std::size_t>(row)] = row * whole + std::min(row, rest);
    return offsets;
}

std::vector<std::int64_t> zipf_offsets(std::int64_t rows, std::int64_t nonzeros) {
    const auto count = static_cast<std::size_t>(rows);
    double sum = 0;
    for (std::int64_t rank = 1; rank <= rows; ++rank) sum += 1 / static_cast<double>(rank);
    std::vector<std::int64_t> lengths(count);
    std::int64_t left = nonzeros;
    for (std::size_t k = 0; k < count; ++k) {
        const double share = static_cast<double>(nonzeros) / (sum * static_cast<double>(k + 1));
        lengths[k] = std::min(left, static_cast<std::int64_t>(share));
        left -= lengths[k];
    }
    for (std::size_t k = 0; left > 0; k = (k + 1) % count, --left) ++lengths[count - 1 - k];
    for (std::size_t k = count; k > 1; --k) // Fisher and Yates
        std::swap(lengths[k - 1], lengths[counter_hash(11, k, 0) % k]);
    std::vector<std::int64_t> offsets(count + 1);
    std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
    return offsets;
}

template <class T>
std::vector<sparse_line> lengths_lines(const sparse_case<T>& c) {
    if (c.matrix.rows == 0) return {};
    const csr_matrix<T> equal =
        with_offsets(c.matrix, equal_offsets(c.matrix.rows, c.matrix.nnz()));
    const csr_matrix<T> zipf = with_offsets(c.matrix, zipf_offsets(c.matrix.rows, c.matrix.nnz()));
    const std::vector<T> x = some_vector<T>(c.matrix.columns);
    const plain_product of_equal = multiply_plainly(equal, x);
    const plain_product of_zipf = multiply_plainly(zipf, x);
    const sparse_case<T> equal_case{c.on, equal, c.repeats, c.peers, c.group};
    const sparse_case<T> zipf_case{c.on, zipf, c.repeats, c.peers, c.group};
    const bool cuda = c.on->kind() == backend::cuda;
    std::vector<format_kind> kinds = {formats::csr};
    if (cuda) kinds = {formats::merge, formats::csr5, formats::automatic};
    std::vector<sparse_line> lines;
    for (const format_kind kind : kinds) {
        const sparse_line even = measure_format(equal_case, kind, x, of_equal);
        sparse_line line = measure_format(zipf_case, kind, x, of_zipf);
        line.kernel = "lengths";
        line.variant = (kind ? "" : "auto: ") + line.variant + ", Zipf";
        line.peer = even.variant + ", equal rows";
        line.peer_seconds = even.seconds;
        line.note = fmt::format("{:.2f} times the time", line.seconds / even.seconds);
        lines.push_back(std::move(line));
    }
    return lines;
}

template std::vector<sparse_line> lengths_lines(const sparse_case<double>&);
template std::vector<sparse_line> lengths_lines(const sparse_case<float>&);

} // namespace krylith::bench
