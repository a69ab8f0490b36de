#include <krylith/bench/sparse/formats_lines.hpp>

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include <krylith/bench/sparse/format_measure.hpp>
#include <krylith/bench/sparse/formats_peers.hpp>
#include <krylith/config.hpp>
#include <krylith/sparse/csr/csr_bytes.hpp>
#include <krylith/sparse/format.hpp>

namespace krylith::bench {

namespace {

template <class T>
product_peer_seconds peer_seconds(const sparse_case<T>& c, [[maybe_unused]] bool cuda) {
#if KRYLITH_HAVE_CUDA
    if (cuda) return cusparse_product_seconds(c.on, c.repeats, c.matrix);
#endif
    return eigen_product_seconds(*c.on, c.repeats, c.matrix);
}

} // namespace

template <class T>
std::vector<sparse_line> formats_lines(const sparse_case<T>& c) {
    const bool cuda = c.on->kind() == backend::cuda;
    const std::vector<T> x = some_vector<T>(c.matrix.columns);
    const plain_product expected = multiply_plainly(c.matrix, x);
    const product_peer_seconds beside = c.peers ? peer_seconds(c, cuda) : product_peer_seconds();
    const block_pattern pattern{c.matrix.row_offsets, c.matrix.column_indices, sizeof(T)};
    std::vector<sparse_line> lines;
    const auto add = [&](sparse_line line) {
        line.peer = !c.peers ? "" : cuda ? "cusparse" : "eigen";
        line.peer_seconds = beside.product;
        line.peer_set_up = beside.set_up;
        lines.push_back(std::move(line));
    };
    for (const format_kind format : formats::all) {
        if (format == formats::cusparse) continue; // the peer
        if (!(cuda ? format->on_cuda.get() : format->on_host.get())) continue;
        if ((*format->matrix_bytes.get())(pattern) > 4 * csr_bytes(pattern)) continue;
        add(measure_format(c, format, x, expected));
    }
    const sparse_line best = *std::ranges::min_element(lines, {}, &sparse_line::seconds);
    sparse_line taken = measure_format<T>(c, formats::automatic, x, expected);
    const auto same = std::ranges::find(lines, taken.variant, &sparse_line::variant);
    if (same != lines.end()) { // one measurement of a format, so that noise is no loss
        taken.seconds = same->seconds;
        taken.least = same->least;
        taken.set_up = same->set_up;
    }
    taken.note = fmt::format("takes {}, the fastest is {}, lost {:.1f}%", taken.variant,
                             best.variant, 100 * (taken.seconds / best.seconds - 1));
    taken.variant = "auto";
    add(std::move(taken));
    return lines;
}

template std::vector<sparse_line> formats_lines(const sparse_case<double>&);
template std::vector<sparse_line> formats_lines(const sparse_case<float>&);

} // namespace krylith::bench
