#include <krylith/bench/sparse/spgemm_lines.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <krylith/bench/sparse/smoothed_aggregation.hpp>
#include <krylith/bench/sparse/sparse_timing.hpp>
#include <krylith/bench/sparse/spgemm_check.hpp>
#include <krylith/bench/sparse/spgemm_peers.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/sparse/spgemm.hpp>

namespace krylith::bench {

namespace {

/// The bytes of A, B and C, each read or written once.
template <class T>
std::int64_t bytes_of(const device_csr<T>& a, const device_csr<T>& b, const device_csr<T>& c) {
    return a.bytes() + b.bytes() + c.bytes();
}

/// Two lines: C = A B with all allocations, and new values in C.
template <class T>
std::vector<sparse_line> lines_of(const sparse_case<T>& c, const std::string& name,
                                  const csr_matrix<T>& host_a, const csr_matrix<T>& host_b) {
    const device_csr<T> a(c.on, host_a);
    const device_csr<T> b(c.on, host_b);
    sparse_line whole;
    whole.kernel = "spgemm";
    whole.variant = name;
    const repeated_seconds all =
        time_runs(*c.on, c.repeats, [&] { (void)krylith::multiply(a, b); });
    const repeated_seconds planned =
        time_runs(*c.on, std::min(c.repeats, 5), [&] { const spgemm<T> again(a, b); });
    const spgemm<T> plan(a, b);
    device_csr<T> product = plan.multiply(a, b);
    whole.seconds = all.median;
    whole.least = all.least;
    whole.flops = 2 * plan.products();
    whole.bytes = bytes_of(a, b, product);
    whole.memory = plan.peak_bytes();

    sparse_line numeric = whole;
    numeric.variant += ", values";
    numeric.memory = plan.bytes();
    const repeated_seconds again =
        time_runs(*c.on, c.repeats, [&] { plan.refresh(a, b, product); });
    numeric.seconds = again.median;
    numeric.least = again.least;
    numeric.set_up = planned.median;
    whole.deviation = numeric.deviation = check_matrix_product(host_a, host_b, product);
    whole.note = fmt::format(
        "{:.1f} M nonzeros, {:.2f} x its bytes beside", static_cast<double>(plan.nonzeros()) / 1e6,
        static_cast<double>(plan.peak_bytes()) / static_cast<double>(product.bytes()));
    if (c.peers) {
        product = {}; // cuSPARSE needs the room
        const spgemm_peer_times peer = time_spgemm_peer(c.on, c.repeats, host_a, host_b);
        whole.peer = numeric.peer = peer.name;
        whole.peer_seconds = peer.whole;
        numeric.peer_seconds = peer.numeric;
        numeric.peer_set_up = peer.plan;
        if (peer.numeric == 0) numeric.peer.clear();
        if (!peer.note.empty()) whole.note += "; " + peer.note;
    }
    return {std::move(whole), std::move(numeric)};
}

} // namespace

template <class T>
std::vector<sparse_line> spgemm_lines(const sparse_case<T>& c) {
    const csr_matrix<T>& a = c.matrix;
    if (a.rows != a.columns)
        throw input_error(fmt::format("spgemm: A is {} x {}; its square needs a square matrix",
                                      a.rows, a.columns));
    std::vector<sparse_line> lines = lines_of(c, "A A", a, a);
    const auto append = [&](std::vector<sparse_line> more) {
        for (sparse_line& line : more) lines.push_back(std::move(line));
    };
    const csr_matrix<T> p = smoothed_aggregation(a);
    csr_matrix<T> ap;
    {
        const device_csr<T> da(c.on, a);
        ap = krylith::multiply(da, device_csr<T>(c.on, p)).download();
    }
    append(lines_of(c, "A P", a, p));
    append(lines_of(c, "R (A P)", transpose(p), ap));
    return lines;
}

template std::vector<sparse_line> spgemm_lines(const sparse_case<double>&);
template std::vector<sparse_line> spgemm_lines(const sparse_case<float>&);

} // namespace krylith::bench
