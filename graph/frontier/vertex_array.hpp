// State of vertices: an array partitioned like the rows of the matrix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/graph/frontier/frontier_filter.hpp>
#include <krylith/graph/frontier/group_matrix.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

/// An array with an entry for each vertex. T: double, float, std::int32_t. The matrix must outlive
/// it.
template <class M, class T>
class vertex_array {
public:
    vertex_array(const spmspv::group_matrix<M>& matrix, const std::string& item)
        : matrix_(&matrix) {
        for (const auto& m : matrix.local())
            parts_.emplace_back(matrix.group().handle(m.rank), as_size(m.rows.size()), item);
    }

    /// The entries of the device matrix.local()[m].
    [[nodiscard]] T* operator[](std::size_t m) const { return parts_[m].data(); }

    void fill(T value) {
        for (std::size_t m = 0; m < parts_.size(); ++m)
            spmspv::fill(device(m), parts_[m].data(), matrix_->local()[m].rows.size(), value);
    }
    void set(std::int64_t vertex, T value) {
        for (std::size_t m = 0; m < parts_.size(); ++m) {
            const row_range rows = matrix_->local()[m].rows;
            if (rows.contains(vertex)) // by a kernel: an upload would wait for the device
                spmspv::fill(device(m), parts_[m].data() + (vertex - rows.begin), 1, value);
        }
    }
    /// Uploads the values of all vertices. Waits.
    void upload(const std::vector<T>& all) {
        for (std::size_t m = 0; m < parts_.size(); ++m) {
            const row_range rows = matrix_->local()[m].rows;
            device(m).upload(parts_[m].data(), all.data() + rows.begin,
                             as_size(rows.size()) * sizeof(T));
        }
    }
    /// Returns the values of all vertices. Waits.
    [[nodiscard]] std::vector<T> download() const {
        std::vector<T> all(as_size(matrix_->size()));
        for (std::size_t m = 0; m < parts_.size(); ++m) {
            const row_range rows = matrix_->local()[m].rows;
            device(m).download(all.data() + rows.begin, parts_[m].data(),
                               as_size(rows.size()) * sizeof(T));
        }
        return all;
    }

private:
    [[nodiscard]] krylith::device& device(std::size_t m) const {
        return matrix_->group()[matrix_->local()[m].rank];
    }

    const spmspv::group_matrix<M>* matrix_;
    std::vector<buffer<T>> parts_;
};

} // namespace krylith
