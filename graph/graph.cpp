#include <krylith/graph/graph.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

template <class T>
std::optional<typename graph<T>::edge> first_negative(const csr_view<T>& a) {
    for (std::int64_t row = 0; row < a.rows; ++row)
        for (auto k = a.row_offsets[as_size(row)]; k < a.row_offsets[as_size(row + 1)]; ++k)
            if (!(a.values[as_size(k)] >= T(0)))
                return typename graph<T>::edge{row, a.column_indices[as_size(k)],
                                               a.values[as_size(k)]};
    return {};
}

template <class T>
void check_square(const csr_view<T>& a) {
    if (a.rows != a.columns)
        throw input_error("the matrix of a graph must be square, not " + std::to_string(a.rows) +
                          " x " + std::to_string(a.columns));
}

/// Merges parallel edges, which are adjacent, into the shortest of them.
template <class T>
void join_parallel(csr_matrix<T>& a) {
    std::size_t next = 0; // the next entry to read
    std::size_t kept = 0;
    for (std::size_t row = 0; row < as_size(a.rows); ++row) {
        const std::size_t first = kept;
        for (const std::size_t end = as_size(a.row_offsets[row + 1]); next < end; ++next) {
            const T value = a.values[next];
            if (kept == first || a.column_indices[kept - 1] != a.column_indices[next]) {
                a.column_indices[kept] = a.column_indices[next];
                a.values[kept++] = value;
            } else {
                a.values[kept - 1] = std::min(a.values[kept - 1], value);
            }
        }
        a.row_offsets[row + 1] = static_cast<std::int64_t>(kept);
    }
    a.column_indices.resize(kept);
    a.values.resize(kept);
}

/// Whether edges and their reverses are the same set: their hashes must have the same sum.
template <class T>
bool goes_both_ways(const csr_matrix<T>& a) {
    constexpr std::uint64_t seed = 17;
    std::uint64_t difference = 0;
#pragma omp parallel for schedule(dynamic, 4096) reduction(+ : difference)
    for (std::int64_t row = 0; row < a.rows; ++row) {
        const auto i = static_cast<std::uint64_t>(row);
        for (auto k = a.row_offsets[as_size(row)]; k < a.row_offsets[as_size(row + 1)]; ++k) {
            const auto j = static_cast<std::uint64_t>(a.column_indices[as_size(k)]);
            difference += counter_hash(seed, i, j) - counter_hash(seed, j, i);
        }
    }
    return difference == 0;
}

} // namespace

template <class T>
graph<T>::graph(device_group group, const csr_view<T>& a) {
    validate(a);
    check_square(a);
    negative_ = first_negative(a);
    csr_matrix<T> along = transpose(a);
    if (!canonical(along)) join_parallel(along);
    undirected_ = goes_both_ways(along);
    matrix_ = std::make_shared<const spmspv::group_matrix<T>>(std::move(group), csr_view<T>(along));
}

template <class T>
std::vector<std::int64_t> graph<T>::out_degrees() const {
    std::vector<std::int64_t> degrees(as_size(vertices()), 0);
    std::vector<std::int32_t> offsets;
    for (const auto& m : matrix_->local()) {
        offsets.resize(as_size(m.rows.size()) + 1);
        std::int64_t* const here = degrees.data() + m.rows.begin;
        for (std::int32_t part = 0; part < m.lengths.parts; ++part) {
            group()[m.rank].download(offsets.data(), m.lengths.offsets[part],
                                     offsets.size() * sizeof(std::int32_t));
            for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
                here[i] += offsets[i + 1] - offsets[i];
        }
    }
    return degrees;
}

namespace {

/// Whether the first of several GPUs has the matrix, or room for it by rows and by columns, twice.
template <class T>
bool fits_on_first(const spmspv::group_matrix<T>& matrix, bool is_there) {
    if (matrix.group().kind() != backend::cuda) return false;
    const std::int64_t bytes =
        2 * matrix.nonzeros() * static_cast<std::int64_t>(sizeof(std::int32_t) + sizeof(T)) +
        8 * matrix.size();
    return is_there || 2 * bytes < static_cast<std::int64_t>(matrix.group()[0].free_bytes());
}

} // namespace

template <class T>
const std::shared_ptr<const spmspv::group_matrix<T>>&
graph<T>::search_matrix(std::optional<bool> one_device) const {
    if (matrix_->local().size() < 2) return matrix_.get();
    if (!one_device.value_or(fits_on_first(*matrix_, on_first_ != nullptr))) return matrix_.get();
    if (on_first_ != nullptr) return on_first_;
    try {
        on_first_ = std::make_shared<const spmspv::group_matrix<T>>(
            group().alone(0), csr_view<T>(matrix_->download()));
    } catch (const memory_error&) {
        if (one_device) throw;
        return matrix_.get(); // there was less room than it seemed
    }
    return on_first_;
}

template <class T>
void graph<T>::check_vertex(const char* what, std::int64_t vertex) const {
    if (vertex >= 0 && vertex < vertices()) return;
    throw usage_error(std::string(what) + " is vertex " + std::to_string(vertex) +
                      (vertices() == 0 ? ": the graph has none"
                                       : ": allowed are 0 to " + std::to_string(vertices() - 1)));
}

#define KRYLITH_INSTANTIATE(T) template class graph<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
