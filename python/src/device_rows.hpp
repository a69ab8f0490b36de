// A matrix whose rows lie on the devices, in arrays that Python keeps alive.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include <krylith/device/error.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/partition/row_partition.hpp>
#include <krylith/spmv/matrix_parts.hpp>

namespace krylith::python {

namespace nb = nanobind;

/// Part k has the rows that device k owns; columns are those of the whole square matrix. Of several
/// processes each gives the parts of its own devices, in memory of the host or of the device.
/// Memory: what transpose() makes; of several processes also a copy of their parts, which join()
/// makes.
template <class T>
class device_rows {
public:
    /// nonzeros[k] are those of part k; `arrays` keeps what the parts refer to.
    device_rows(std::vector<csr_part<T>> parts, std::vector<std::int64_t> nonzeros,
                std::int64_t columns, nb::object arrays)
        : parts_(std::move(parts)),
          nonzeros_(std::move(nonzeros)),
          columns_(columns),
          arrays_(std::move(arrays)) {}

    /// Spreads what is given over all ranks. Throws usage_error unless the matrix is square.
    void join(const communicator& comm) {
        if (origin_) return;
        parts_ = spread(comm, parts_);
        nonzeros_ = spread(comm, nonzeros_);
        std::vector<std::int64_t> rows;
        for (const csr_part<T>& part : parts_) rows.push_back(part.rows);
        comm.all_gather(rows);
        for (const std::int64_t n : rows) owners_.begin.push_back(owners_.rows() + n);
        if (owners_.rows() != columns_)
            throw usage_error("A has " + std::to_string(owners_.rows()) + " rows in all and " +
                              std::to_string(columns_) +
                              " columns: rows on devices must be those of a square matrix");
        if (!comm.has_one_driver()) copies_.emplace(comm, parts_, owners_);
    }

    /// Makes the operator, between the given layouts unless there are none.
    [[nodiscard]] std::unique_ptr<matrix_operator<T>>
    make(const communicator& comm, const operator_options& options,
         const std::optional<operator_layouts>& layouts) const {
        const std::span<const csr_part<T>> parts(parts_);
        if (const distributed_csr<T>* const a = matrix())
            return layouts ? make_operator(*layouts, *a, options) : make_operator(*a, options);
        return layouts ? make_operator<T>(*layouts, parts, options)
                       : make_operator<T>(comm, parts, options);
    }
    [[nodiscard]] matrix_ref<T> entries() const {
        const distributed_csr<T>* const a = matrix();
        return a != nullptr ? matrix_ref<T>(*a)
                            : matrix_ref<T>(std::span<const csr_part<T>>(parts_));
    }
    [[nodiscard]] std::int64_t nonzeros() const {
        if (const distributed_csr<T>* const a = matrix()) return a->nonzeros();
        return std::accumulate(nonzeros_.begin(), nonzeros_.end(), std::int64_t{0});
    }

    /// Refers to other values of the same pattern, [ranks]. Called with Python's lock.
    void refer(const std::vector<const T*>& values, nb::object arrays) {
        for (std::size_t k = 0; k < parts_.size(); ++k) parts_[k].values = values[k];
        values_alive_ = std::move(arrays);
    }
    /// Copies them, where has_copies(). Collective.
    void copy(const std::vector<const T*>& values) { copies_->update_parts(values); }
    /// Whether values may lie in memory of the host wherever the devices are.
    [[nodiscard]] bool has_copies() const noexcept { return copies_.has_value(); }
    [[nodiscard]] const std::vector<std::int64_t>& sizes() const noexcept { return nonzeros_; }
    [[nodiscard]] std::vector<const T*> values() const {
        if (const distributed_csr<T>* const a = matrix()) return a->values();
        std::vector<const T*> result;
        for (const csr_part<T>& part : parts_) result.push_back(part.values);
        return result;
    }

    /// Returns the rows of A' on the devices that own A's columns. They are this object's, as is
    /// where their values come from: 4 bytes a nonzero or more beside A'.
    [[nodiscard]] std::unique_ptr<device_rows> transpose(const communicator& comm) {
        use_matrix(comm, [&](const auto& a) { flipped_ = std::make_shared<transposed>(a); });
        comm.synchronize_all();
        auto result = std::make_unique<device_rows>(
            std::vector<csr_part<T>>(), std::vector<std::int64_t>(), columns_, nb::object());
        result->origin_ = flipped_;
        return result;
    }
    /// Gives what transpose() returned the values that A has now. Costs a copy of A's pattern, too.
    void transpose_values(const communicator& comm) {
        use_matrix(comm, [&](const auto& a) { flipped_->order.apply(a, flipped_->rows); });
        comm.synchronize_all();
    }

private:
    struct transposed {
        explicit transposed(const distributed_csr<T>& a) : order(a), rows(order.take(a)) {}
        distributed_transposition<T> order;
        distributed_csr<T> rows;
    };

    /// Returns what is given for local ranks with an entry for each rank.
    template <class V>
    [[nodiscard]] static std::vector<V> spread(const communicator& comm,
                                               const std::vector<V>& given) {
        if (given.size() != comm.local().size())
            throw usage_error(std::to_string(given.size()) + " parts for " +
                              std::to_string(comm.local().size()) + " devices");
        return by_rank(comm, [&](int rank) {
            return given[static_cast<std::size_t>(rank - comm.first_local())];
        });
    }
    /// The matrix over the devices; null where only the parts are there.
    [[nodiscard]] const distributed_csr<T>* matrix() const noexcept {
        return copies_ ? &*copies_ : origin_ ? &origin_->rows : nullptr;
    }
    template <class Use>
    void use_matrix(const communicator& comm, const Use& use) const {
        if (const distributed_csr<T>* const a = matrix()) return use(*a);
        use(distributed_csr<T>(comm, parts_, owners_, part_values::borrowed));
    }

    std::vector<csr_part<T>> parts_;
    std::vector<std::int64_t> nonzeros_;
    std::int64_t columns_ = 0;
    row_partition owners_;
    std::optional<distributed_csr<T>> copies_; ///< where there are several processes
    nb::object arrays_, values_alive_;
    std::shared_ptr<transposed> flipped_; ///< of transpose()
    std::shared_ptr<transposed> origin_;  ///< whose rows these are; null: Python's
};

} // namespace krylith::python
