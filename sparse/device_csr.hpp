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

/// The same without values.
struct csr_pattern {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t nonzeros = 0;
    const std::int64_t* offsets = nullptr;
    const std::int32_t* indices = nullptr;
    bool ascends = false; ///< known: columns ascend strictly in all rows
};

/// The arrays of a pattern: [rows + 1] and [nonzeros].
struct csr_arrays {
    buffer<std::int64_t> offsets;
    buffer<std::int32_t> indices;
};

/// Values on the device that belong to someone else, who keeps them while they are read.
template <class T>
struct borrowed_values {
    const T* data;
    explicit borrowed_values(const T* values) : data(values) {}
};

/// Owns its values, unless they are borrowed, and its pattern, which it may share with matrices
/// that were made of it. Work on it goes in the order of the device's stream. Sizes are up to 2^31
/// - 1 rows and columns; offsets have 64 bits. Bytes: 8 (rows + 1) + (4 + sizeof(T)) nonzeros,
/// without borrowed values. Move-only.
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
        return pattern_ == nullptr ? 0 : static_cast<std::int64_t>(pattern_->indices.size());
    }
    [[nodiscard]] std::int64_t bytes() const noexcept;
    [[nodiscard]] device_csr_view<T> view() const noexcept;
    [[nodiscard]] csr_pattern pattern() const noexcept {
        const device_csr_view<T> v = view();
        return {v.rows, v.columns, v.nonzeros, v.offsets, v.indices, ascends_};
    }
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
    /// The matrix with other values, a buffer or borrowed ones, and the same pattern, which both
    /// have from then on. Throws usage_error where a buffer has not `nonzeros()` of them.
    template <class V, template <class> class Values>
    [[nodiscard]] device_csr<V> with_values(Values<V> values) const {
        device_csr<V> result(device_, columns_, pattern_, std::move(values));
        result.set_ascending(ascends_);
        return result;
    }

private:
    template <class V>
    friend class device_csr;

    device_csr(std::shared_ptr<device> device, std::int64_t columns,
               std::shared_ptr<const csr_arrays> pattern, buffer<T> values);
    device_csr(std::shared_ptr<device> device, std::int64_t columns,
               std::shared_ptr<const csr_arrays> pattern, borrowed_values<T> values);

    std::shared_ptr<device> device_;
    std::int64_t rows_ = 0;
    std::int64_t columns_ = 0;
    bool ascends_ = false;
    std::shared_ptr<const csr_arrays> pattern_; ///< null: an empty matrix
    buffer<T> values_;
    borrowed_values<T> borrowed_{nullptr}; ///< null: values_ are the values
};

} // namespace krylith
