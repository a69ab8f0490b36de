// A matrix whose rows lie on the devices, in arrays that Python keeps alive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include <krylith/device/error.hpp>
#include <krylith/distributed/distributed_products.hpp>

namespace krylith::python {

namespace nb = nanobind;

/// Part k has the rows that device k owns; columns are those of the whole square matrix. Memory:
/// nothing but what transpose() makes.
template <class T>
class device_rows {
public:
    /// nonzeros[k] are those of part k; `arrays` keeps what the parts refer to.
    device_rows(std::vector<csr_part<T>> parts, std::vector<std::int64_t> nonzeros,
                nb::object arrays)
        : parts_(std::move(parts)), nonzeros_(std::move(nonzeros)), arrays_(std::move(arrays)) {}

    [[nodiscard]] std::span<const csr_part<T>> parts() const noexcept { return parts_; }
    [[nodiscard]] std::int64_t nonzeros() const {
        std::int64_t sum = 0;
        for (const std::int64_t n : nonzeros_) sum += n;
        return sum;
    }

    /// Refers to other values of the same pattern, one array a device. Called with Python's lock.
    void take(const std::vector<const T*>& values, nb::object arrays) {
        for (std::size_t k = 0; k < parts_.size(); ++k) parts_[k].values = values[k];
        values_alive_ = std::move(arrays);
    }
    [[nodiscard]] const std::vector<std::int64_t>& sizes() const noexcept { return nonzeros_; }
    [[nodiscard]] std::vector<const T*> values() const {
        std::vector<const T*> result;
        for (const csr_part<T>& part : parts_) result.push_back(part.values);
        return result;
    }

    /// Returns the rows of A' on the devices that own A's columns. They are this object's, as is
    /// where their values come from: 4 bytes a nonzero or more beside A'.
    [[nodiscard]] std::unique_ptr<device_rows> transpose(const device_group& group) {
        const distributed_csr<T> a = borrowed(group);
        flipped_ = std::make_shared<transposed>(a);
        std::vector<csr_part<T>> parts;
        std::vector<std::int64_t> nonzeros;
        for (int rank = 0; rank < group.size(); ++rank) {
            device_csr<T>& block = flipped_->rows.block(rank);
            csr_part<T> part;
            part.rows = block.rows();
            part.row_offsets = block.view().offsets;
            part.column_indices = block.view().indices;
            if (group.size() > 1) {
                flipped_->columns.push_back(flipped_->rows.global_columns(rank));
                part.column_indices = flipped_->columns.back().data();
            }
            part.values = block.values();
            parts.push_back(part);
            nonzeros.push_back(block.nonzeros());
        }
        group.synchronize();
        auto result =
            std::make_unique<device_rows>(std::move(parts), std::move(nonzeros), nb::object());
        result->origin_ = flipped_;
        return result;
    }
    /// Gives what transpose() returned the values that A has now. Costs a copy of A's pattern, too.
    void transpose_values(const device_group& group) {
        const distributed_csr<T> a = borrowed(group);
        flipped_->order.apply(a, flipped_->rows);
        group.synchronize();
    }

private:
    struct transposed {
        explicit transposed(const distributed_csr<T>& a) : order(a), rows(order.take(a)) {}
        distributed_transposition<T> order;
        distributed_csr<T> rows;
        std::vector<buffer<std::int32_t>> columns; ///< global ones, where local ones differ
    };

    [[nodiscard]] distributed_csr<T> borrowed(const device_group& group) const {
        std::vector<std::int64_t> firsts = {0};
        for (const csr_part<T>& part : parts_) firsts.push_back(firsts.back() + part.rows);
        return distributed_csr<T>(group, parts(), row_partition{std::move(firsts)},
                                  part_values::borrowed);
    }

    std::vector<csr_part<T>> parts_;
    std::vector<std::int64_t> nonzeros_;
    nb::object arrays_, values_alive_;
    std::shared_ptr<transposed> flipped_; ///< of transpose()
    std::shared_ptr<transposed> origin_;  ///< whose arrays the parts are; null: Python's
};

} // namespace krylith::python
