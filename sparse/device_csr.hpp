// A sparse matrix in compressed rows in the memory of one device, for work that needs no operator:
// transpose, products of matrices, triangular solves.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <krylith/device/device.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/matrix/csr.hpp>

namespace krylith {

/// The arrays of a matrix on a device, as kernels take them. The entries of row i are
/// [offsets[i], offsets[i + 1]).
template <class T>
struct device_csr_view {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t nonzeros = 0;
    const std::int64_t* offsets = nullptr; ///< [rows + 1], the first is 0, the last `nonzeros`
    const std::int32_t* indices = nullptr; ///< [nonzeros] columns
    const T* values = nullptr;             ///< [nonzeros]
};

/// Values on the device that belong to someone else, who keeps them while they are read.
template <class T>
struct borrowed_values {
    const T* data;
    explicit borrowed_values(const T* values) : data(values) {}
};

/// Owns its arrays, but for values that are borrowed. Work on it goes in the order of the device's
/// stream. Sizes are up to 2^31 - 1 rows and columns; offsets have 64 bits. Bytes: 8 (rows + 1) +
/// (4 + sizeof(T)) nonzeros, without borrowed values. Move-only.
template <class T>
class device_csr {
public:
    device_csr() = default;
    /// Uploads `a`. Throws input_error as validate() does, and usage_error without a device.
    device_csr(std::shared_ptr<device> device, const csr_view<T>& a);
    /// Takes arrays that lie on the device and are right: indices.size() and values.size() are the
    /// nonzeros, offsets.size() is the rows + 1.
    device_csr(std::shared_ptr<device> device, std::int64_t columns, buffer<std::int64_t> offsets,
               buffer<std::int32_t> indices, buffer<T> values);
    /// The same with values that are only read: update() and values() are not for it.
    device_csr(std::shared_ptr<device> device, std::int64_t columns, buffer<std::int64_t> offsets,
               buffer<std::int32_t> indices, borrowed_values<T> values);

    [[nodiscard]] const std::shared_ptr<device>& on() const noexcept { return device_; }
    [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
    [[nodiscard]] std::int64_t columns() const noexcept { return columns_; }
    [[nodiscard]] std::int64_t nonzeros() const noexcept {
        return static_cast<std::int64_t>(indices_.size());
    }
    [[nodiscard]] std::int64_t bytes() const noexcept;
    [[nodiscard]] device_csr_view<T> view() const noexcept;
    /// [nonzeros] on the device, to be written by kernels; the pattern stays.
    [[nodiscard]] T* values() noexcept { return values_.data(); }

    /// Whether columns are known to ascend strictly in each row, as they do in products and what
    /// else the library makes: nobody needs to look again.
    [[nodiscard]] bool ascends() const noexcept { return ascends_; }
    /// Makes it known. It must be so.
    void set_ascending(bool ascends) noexcept { ascends_ = ascends; }

    /// Uploads other values of the same pattern. Throws usage_error where their number differs.
    void update(std::span<const T> values);
    /// Waits for the device.
    [[nodiscard]] csr_matrix<T> download() const;
    /// The matrix with other values, into which the pattern moves: nothing is copied, and the own
    /// values are freed. Throws usage_error where there are not `nonzeros()` of them.
    template <class V>
    [[nodiscard]] device_csr<V> with_values(buffer<V> values) && {
        std::shared_ptr<device> on = device_;
        device_csr<V> result(std::move(on), columns_, std::move(offsets_), std::move(indices_),
                             std::move(values));
        result.set_ascending(ascends_);
        return result;
    }

private:
    std::shared_ptr<device> device_;
    std::int64_t rows_ = 0;
    std::int64_t columns_ = 0;
    bool ascends_ = false;
    buffer<std::int64_t> offsets_;
    buffer<std::int32_t> indices_;
    buffer<T> values_;
    borrowed_values<T> borrowed_{nullptr}; ///< null: values_ are the values
};

} // namespace krylith
