// A directed graph on a device group, for breadth_first_search, pagerank and shortest_paths.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/device/memory/unmoved.hpp>
#include <krylith/graph/frontier/group_matrix.hpp>
#include <krylith/matrix/csr.hpp>

namespace krylith {

/// A graph: its vertices are the rows of a square matrix, from 0, and every stored entry a_ij, a
/// zero too, is an edge i -> j. Several entries of one place are parallel edges, of which the
/// shortest is kept. Values are weights: lengths, which shortest_paths alone reads. T: double,
/// float. The devices hold A' in CSR and CSC, so that a product y = A' x follows the edges from i
/// to j. A graph is not copyable; several algorithms may use it, one at a time.
template <class T>
class graph {
public:
    /// Takes a matrix that passes validate(); throws input_error unless it is square. The matrix is
    /// not needed afterwards. It costs O(n + edges) on the host, with as much memory as the matrix
    /// takes. Devices take what group_matrix takes, which throws where it doesn't fit.
    graph(device_group group, const csr_view<T>& a);

    [[nodiscard]] std::int64_t vertices() const { return matrix_->size(); }
    /// The number of edges; parallel ones count once.
    [[nodiscard]] std::int64_t edges() const { return matrix_->nonzeros(); }
    [[nodiscard]] const device_group& group() const { return matrix_->group(); }
    [[nodiscard]] const std::shared_ptr<const spmspv::group_matrix<T>>& matrix() const {
        return matrix_.get();
    }

    /// What a search multiplies by. A level is often over sooner than devices have told each other
    /// of it: on GPUs it is all of the matrix on the first one, if that has room for it twice, and
    /// matrix() otherwise. `one_device` asks for the one, which throws device_error where memory is
    /// short, or for the other. It is made of what the devices have, by way of the host, at the
    /// first call, and kept.
    [[nodiscard]] const std::shared_ptr<const spmspv::group_matrix<T>>&
    search_matrix(std::optional<bool> one_device = {}) const;

    /// Whether each edge goes both ways, whatever its weights: then the eigenvalues of the matrix
    /// of equally likely edges are real. Hashes decide: a false yes has a probability of 2^-64.
    [[nodiscard]] bool undirected() const noexcept { return undirected_; }

    struct edge {
        std::int64_t from;
        std::int64_t to;
        T weight;
    };
    /// The first edge, in the order of rows, whose weight is negative or not a number.
    [[nodiscard]] const std::optional<edge>& negative() const noexcept { return negative_; }

    /// Returns the number of edges that leave each vertex, from the devices: 4 n bytes from each.
    /// Waits.
    [[nodiscard]] std::vector<std::int64_t> out_degrees() const;

    /// Throws usage_error with `what` in its text unless `vertex` is a vertex.
    void check_vertex(const char* what, std::int64_t vertex) const;

private:
    std::optional<edge> negative_;
    bool undirected_;
    unmoved<std::shared_ptr<const spmspv::group_matrix<T>>> matrix_;
    mutable std::shared_ptr<const spmspv::group_matrix<T>> on_first_; ///< all of it, once wanted
};

} // namespace krylith
