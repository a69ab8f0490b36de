// A directed graph on a device group: what breadth_first_search, pagerank and shortest_paths walk
// over.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/graph/frontier/group_matrix.hpp>
#include <krylith/matrix/csr.hpp>

namespace krylith {

/// Not copyable; several algorithms may use it, one at a time. T: double, float. Vertices are the
/// rows of a square matrix, from 0. Every stored entry a_ij, a zero too, is an edge i -> j. Entries
/// of one place are parallel edges, kept as one: the shortest. Values are weights: lengths for
/// shortest_paths, which alone reads them. The devices hold A', by rows and columns: a product goes
/// along the edges, y = A' x reaches j from i.
template <class T>
class graph {
public:
    /// The matrix must pass validate() and be square, input_error otherwise, and is not needed any
    /// more afterwards. O(n + edges) on the host, with as much memory as the matrix takes. Devices
    /// take what group_matrix takes; it throws where it doesn't fit.
    graph(device_group group, const csr_view<T>& a);

    [[nodiscard]] std::int64_t vertices() const noexcept { return matrix_->size(); }
    /// Parallel ones count once.
    [[nodiscard]] std::int64_t edges() const noexcept { return matrix_->nonzeros(); }
    [[nodiscard]] const device_group& group() const noexcept { return matrix_->group(); }
    [[nodiscard]] const std::shared_ptr<const spmspv::group_matrix<T>>& matrix() const noexcept {
        return matrix_;
    }

    /// Whether each edge goes both ways, whatever its weights: then the eigenvalues of the matrix
    /// of equally likely edges are real. By hashes: a false yes has a chance of 2^-64.
    [[nodiscard]] bool undirected() const noexcept { return undirected_; }

    struct edge {
        std::int64_t from;
        std::int64_t to;
        T weight;
    };
    /// The first edge, by rows, whose weight is negative or not a number.
    [[nodiscard]] const std::optional<edge>& negative() const noexcept { return negative_; }

    /// Edges that leave each vertex, from the devices: 4 n bytes from each. Waits.
    [[nodiscard]] std::vector<std::int64_t> out_degrees() const;

    /// Throws usage_error, naming `what`, unless it is a vertex.
    void check_vertex(const char* what, std::int64_t vertex) const;

private:
    std::optional<edge> negative_;
    bool undirected_;
    std::shared_ptr<const spmspv::group_matrix<T>> matrix_;
};

extern template class graph<double>;
extern template class graph<float>;

} // namespace krylith
