#include <krylith/solvers/graph.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/index_width.hpp>

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

/// The matrix with 1 / (entries of the row) everywhere, transposed.
template <class T>
csr_matrix<T> shares_of(const csr_view<T>& a) {
    std::vector<T> values(a.values.size());
    for (std::int64_t row = 0; row < a.rows; ++row) {
        const auto begin = a.row_offsets[as_size(row)];
        const auto end = a.row_offsets[as_size(row + 1)];
        const T share = T(1) / static_cast<T>(end - begin);
        for (auto k = begin; k < end; ++k) values[as_size(k)] = share;
    }
    return transpose(csr_view<T>(a.rows, a.columns, a.row_offsets, a.column_indices, values));
}

/// Makes one of parallel edges, which stand side by side: the shortest, or the sum of their shares.
template <class T>
void join_parallel(csr_matrix<T>& a, edge_values values) {
    std::size_t next = 0; // to be read
    std::size_t kept = 0;
    for (std::size_t row = 0; row < as_size(a.rows); ++row) {
        const std::size_t first = kept;
        for (const std::size_t end = as_size(a.row_offsets[row + 1]); next < end; ++next) {
            const T value = a.values[next];
            if (kept == first || a.column_indices[kept - 1] != a.column_indices[next]) {
                a.column_indices[kept] = a.column_indices[next];
                a.values[kept++] = value;
            } else {
                T& one = a.values[kept - 1];
                one = values == edge_values::weights ? std::min(one, value) : one + value;
            }
        }
        a.row_offsets[row + 1] = static_cast<std::int64_t>(kept);
    }
    a.column_indices.resize(kept);
    a.values.resize(kept);
}

} // namespace

template <class T>
graph<T>::graph(device_group group, const csr_view<T>& a, edge_values values) : values_(values) {
    validate(a);
    check_square(a);
    if (values == edge_values::weights) negative_ = first_negative(a);
    csr_matrix<T> along = values == edge_values::weights ? transpose(a) : shares_of(a);
    if (!canonical(along)) join_parallel(along, values);
    matrix_ = std::make_shared<const spmspv::group_matrix<T>>(std::move(group), csr_view<T>(along));
}

template <class T>
void graph<T>::check_vertex(const char* what, std::int64_t vertex) const {
    if (vertex >= 0 && vertex < vertices()) return;
    throw usage_error(std::string(what) + " is vertex " + std::to_string(vertex) +
                      (vertices() == 0 ? ": the graph has none"
                                       : ": allowed are 0 to " + std::to_string(vertices() - 1)));
}

template class graph<double>;
template class graph<float>;

} // namespace krylith
