#include <krylith/bench/sparse/triangular_lines.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include <krylith/bench/common/measurement_failed.hpp>
#include <krylith/bench/sparse/sparse_timing.hpp>
#include <krylith/bench/sparse/triangular_matrix.hpp>
#include <krylith/bench/sparse/triangular_peers.hpp>
#include <krylith/config.hpp>
#include <krylith/sparse/triangular_solver.hpp>

namespace krylith::bench {

namespace {

template <class T>
double deviation(const std::vector<T>& x, const std::vector<T>& exact) {
    double most = 0;
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double difference = std::abs(static_cast<double>(x[i]) - double{exact[i]});
        most = difference <= most ? most : difference; // also where it is NaN
        largest = std::max(largest, std::abs(static_cast<double>(exact[i])));
    }
    return largest == 0 ? most : most / largest;
}

/// One triangle of one matrix: what is measured on it, and the oracle.
template <class T>
struct triangle_case {
    const sparse_case<T>& c;
    const csr_matrix<T>& matrix;
    const device_csr<T>& a;
    bool upper;
    std::string name; ///< "lower", "upper", "lower, by colour"
    std::vector<T> b;
    std::vector<T> exact;

    triangle_case(const sparse_case<T>& measured, const csr_matrix<T>& from,
                  const device_csr<T>& there, bool of_upper, std::string called)
        : c(measured), matrix(from), a(there), upper(of_upper), name(std::move(called)) {
        for (std::int64_t i = 0; i < matrix.rows; ++i)
            b.push_back(static_cast<T>(1 + i % 7) / T{8});
        exact = substitute(matrix, upper, b);
    }

    [[nodiscard]] triangular_peer_seconds peer() const {
        if (!c.peers) return {};
        if (c.on->kind() == backend::host)
            return eigen_triangular(*c.on, c.repeats, matrix, upper, b);
#if KRYLITH_HAVE_CUDA
        return cusparse_triangular(c.on, c.repeats, a, upper, b);
#else
        return {};
#endif
    }
    [[nodiscard]] std::int64_t entries() const {
        std::int64_t strict = 0;
        for (std::int64_t i = 0; i < matrix.rows; ++i)
            for (auto k = matrix.row_offsets[static_cast<std::size_t>(i)];
                 k < matrix.row_offsets[static_cast<std::size_t>(i) + 1]; ++k) {
                const std::int64_t j = matrix.column_indices[static_cast<std::size_t>(k)];
                strict += upper ? j > i : j < i;
            }
        return strict;
    }
};

template <class T>
std::vector<sparse_line> measure_triangle(const triangle_case<T>& t, triangular_method method,
                                          const triangular_peer_seconds& peer,
                                          std::int64_t strict) {
    const sparse_case<T>& c = t.c;
    const triangular_options options{.part = t.upper ? triangle_part::upper : triangle_part::lower,
                                     .method = method};
    triangular_solver<T> solver(t.a, options);
    const buffer<T> b(c.on, std::span<const T>(t.b), "bench");
    const buffer<T> x(c.on, t.b.size(), "bench");
    sparse_line line;
    line.kernel = "triangular";
    line.variant = t.name + ", " + to_string(solver.method());
    line.peer = peer.solve == 0 ? "" : c.on->kind() == backend::host ? "eigen" : "cusparse";
    line.peer_seconds = peer.solve;
    const repeated_seconds solve = time_runs(
        *c.on, c.repeats, [&] { solver.solve(b.data(), x.data()); }, 5);
    line.seconds = solve.median;
    line.least = solve.least;
    constexpr auto word = static_cast<std::int64_t>(sizeof(T));
    line.bytes = strict * (word + 4) + 3 * word * t.matrix.rows;
    line.flops = 2 * strict + t.matrix.rows;
    line.memory = solver.bytes();
    line.deviation = deviation(x.download(), t.exact);
    line.note = solver.reason();
    if (!(line.deviation < (std::is_same_v<T, double> ? 1e-12 : 1e-4)))
        throw measurement_failed("solve, " + line.variant + ": the solution is wrong by " +
                                 std::to_string(line.deviation));
    line.set_up = time_runs(*c.on, std::min(c.repeats, 5), [&] {
                      const triangular_solver<T> again(t.a, options);
                  }).median;
    line.peer_set_up = peer.analysis;
    sparse_line update;
    update.kernel = line.kernel;
    update.variant = line.variant + ", new values";
    update.memory = line.memory;
    const repeated_seconds taken =
        time_runs(*c.on, std::min(c.repeats, 5), [&] { solver.update(); });
    update.seconds = taken.median;
    update.least = taken.least;
    return {line, update};
}

template <class T>
void measure_triangle(const triangle_case<T>& t, bool all, std::vector<sparse_line>& lines) {
    const triangular_peer_seconds peer = t.peer();
    const std::int64_t strict = t.entries();
    for (const auto method : {triangular_method::levels, triangular_method::rows}) {
        if (!all && method == triangular_method::rows) continue;
        for (sparse_line& line : measure_triangle(t, method, peer, strict))
            lines.push_back(std::move(line));
    }
}

} // namespace

template <class T>
std::vector<sparse_line> triangular_lines(const sparse_case<T>& c) {
    std::vector<sparse_line> lines;
    const csr_matrix<T> matrix = with_dominant_diagonal(c.matrix);
    {
        const device_csr<T> a(c.on, matrix);
        measure_triangle(triangle_case<T>(c, matrix, a, false, "lower"), true, lines);
        measure_triangle(triangle_case<T>(c, matrix, a, true, "upper"), true, lines);
    }
    const csr_matrix<T> coloured = by_colour(matrix);
    const device_csr<T> a(c.on, coloured);
    measure_triangle(triangle_case<T>(c, coloured, a, false, "lower by colour"), false, lines);
    return lines;
}

template std::vector<sparse_line> triangular_lines(const sparse_case<double>&);
template std::vector<sparse_line> triangular_lines(const sparse_case<float>&);

} // namespace krylith::bench
