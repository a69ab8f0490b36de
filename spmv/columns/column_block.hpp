// The block of a rank of an operator for several columns (spmv/column_operator.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include <krylith/device/error.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/sparse/csr/column_product.hpp>
#include <krylith/sparse/device_matrix.hpp>

namespace krylith {

/// Multiplies k columns by the rows of another block, which outlives it.
template <class T>
class column_block final : public device_matrix<T> {
public:
    /// The block has `rows` rows in CSR.
    column_block(std::shared_ptr<device> device, const device_matrix<T>& single, std::int64_t rows,
                 int columns)
        : device_(std::move(device)), single_(single) {
        product_.columns = columns;
        product_.rows = rows;
        product_.matrix = single.compressed().value();
        if (rows != 0) product_.nonzeros = nonzeros();
    }

    void apply(const spmv_arguments<T>& a) override {
        column_product<T> product = product_;
        product.x = a.x;
        product.y = a.y;
        product.alpha = a.alpha;
        product.beta = a.beta;
        product.common = a.common;
        KRYLITH_ON(*device_, multiply_columns(*device_, product));
    }
    void update(std::span<const T>) override { refuse("update()"); }
    void update_on_device(const T*) override { refuse("update_on_devices()"); }
    void diagonal(T*, const row_map&, std::int64_t) const override { refuse("diagonal()"); }
    [[nodiscard]] buffer<residual_sums> residual(const residual_operands<T>& a) const override {
        return single_.residual(a);
    }
    [[nodiscard]] std::string name() const override { return single_.name(); }
    [[nodiscard]] std::int64_t matrix_bytes() const override { return single_.matrix_bytes(); }

private:
    [[noreturn]] static void refuse(const char* what) {
        throw usage_error(std::string("an operator for several columns has no ") + what +
                          "; that of one column has");
    }
    [[nodiscard]] std::int64_t nonzeros() const {
        const compressed_rows<T>& m = product_.matrix;
        const auto read = [&](const auto* offsets) {
            std::remove_cvref_t<decltype(*offsets)> end{};
            device_->download(&end, offsets + product_.rows, sizeof(end));
            return static_cast<std::int64_t>(end);
        };
        return m.narrow_offsets != nullptr ? read(m.narrow_offsets) : read(m.wide_offsets);
    }

    std::shared_ptr<device> device_;
    const device_matrix<T>& single_;
    column_product<T> product_{};
};

} // namespace krylith
