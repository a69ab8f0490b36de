#include <krylith/bench/graph/graph_cases.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/matrix/load.hpp>

namespace krylith::bench {

namespace {

constexpr std::array sizes_in_order = {"tiny", "small", "medium", "large"};

struct family {
    const char* name;
    std::array<const char*, 4> arguments; ///< by size
};

/// The families, high diameter first.
constexpr std::array<family, 9> all_families = {{
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

[[noreturn]] void refuse(const std::string& what, const std::string& found,
                         const std::vector<std::string>& allowed) {
    std::string message = "unknown " + what + " '" + found + "'; allowed are";
    for (const std::string& name : allowed) {
        message += " " + name;
    }
    throw usage_error(message);
}

std::size_t place_of(const std::string& size) {
    const auto found = std::ranges::find(sizes_in_order, size);
    if (found == sizes_in_order.end()) {
        refuse("size", size, {sizes_in_order.begin(), sizes_in_order.end()});
    }
    return static_cast<std::size_t>(found - sizes_in_order.begin());
}

std::vector<const family*> named(const std::string& families) {
    std::vector<const family*> chosen;
    std::istringstream names(families);
    for (std::string name; std::getline(names, name, ',');) {
        bool known = false;
        for (const family& f : all_families) {
            if (name != "all" && name != f.name) {
                continue;
            }
            known = true;
            chosen.push_back(&f);
        }
        if (!known) {
            std::vector<std::string> allowed = {"all"};
            for (const family& f : all_families) {
                allowed.emplace_back(f.name);
            }
            refuse("family", name, allowed);
        }
    }
    return chosen;
}

} // namespace

std::vector<spmv_case> graph_members(const std::string& families,
                                     const std::vector<std::string>& sizes) {
    std::vector<spmv_case> result;
    for (const family* f : named(families)) {
        for (const std::string& size : sizes) {
            result.push_back(
                {std::string("gallery:") + f->name + ":" + f->arguments[place_of(size)], f->name,
                 size});
        }
    }
    return result;
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
