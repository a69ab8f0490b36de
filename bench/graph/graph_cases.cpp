#include <krylith/bench/graph/graph_cases.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/matrix/load.hpp>

namespace krylith::bench {

namespace {

/// The families, high diameter first.
constexpr std::array<gallery_family, 9> graph_families = {{
    {"road", {"200", "650", "2050", "4100"}},
    {"delaunay", {"220:220", "700:700", "2200:2200", "4400:4400"}},
    {"poisson2d", {"250", "780", "2450", "4900"}},
    {"rgg", {"15", "18", "21", "23"}},
    {"kmer", {"140000", "1400000", "14000000", "57000000"}},
    {"web", {"20000", "200000", "2000000", "8000000"}},
    {"rmat", {"14", "18:12", "21", "23"}},
    {"kron", {"13", "17:12", "20", "22"}},
    {"random", {"20000:15", "200000:15", "2000000:15", "8000000:15"}},
}};

} // namespace

std::vector<spmv_case> graph_members(const std::string& families,
                                     const std::vector<std::string>& sizes) {
    return family_members(families, sizes, graph_families);
}

template <class T>
csr_matrix<T> load_graph(const std::string& name) {
    csr_matrix<T> a = load_matrix<T>(name);
    if (a.rows != a.columns) {
        throw input_error(
            fmt::format("{} is {} x {}, must be square to be a graph", name, a.rows, a.columns));
    }
    for (T& value : a.values) {
        value = std::fabs(value);
    }
    return a;
}

template <class T>
std::vector<std::int64_t> pick_sources(const csr_matrix<T>& a, int count) {
    std::vector<std::int64_t> sources;
    const std::uint64_t tries = 64 * static_cast<std::uint64_t>(count);
    for (std::uint64_t i = 0; i < tries && std::ssize(sources) < count && a.rows > 0; ++i) {
        const auto vertex =
            static_cast<std::int64_t>(counter_hash(17, i) % static_cast<std::uint64_t>(a.rows));
        const auto at = static_cast<std::size_t>(vertex);
        if (a.row_offsets[at + 1] > a.row_offsets[at] &&
            std::ranges::find(sources, vertex) == sources.end()) {
            sources.push_back(vertex);
        }
    }
    return sources;
}

template csr_matrix<double> load_graph(const std::string&);
template csr_matrix<float> load_graph(const std::string&);
template std::vector<std::int64_t> pick_sources(const csr_matrix<double>&, int);
template std::vector<std::int64_t> pick_sources(const csr_matrix<float>&, int);

} // namespace krylith::bench
