#include <krylith/spmv/column_adaptive/column_adaptive_matrix.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/sparse/external/external_product.hpp>
#include <krylith/sparse/selection/make_device_matrix.hpp>
#include <krylith/spmspv/kernel_model.hpp>
#include <krylith/spmspv/kernels/vector_conversion.hpp>
#include <krylith/spmspv/product.hpp>
#include <krylith/spmspv/selection/product_features.hpp>
#include <krylith/spmv/column_adaptive/column_worth.hpp>

namespace krylith {

namespace {

using spmspv::kernel;
using spmspv::vector_form;

/// Returns the block in CSR and CSC, with offsets that begin at 0.
template <class T>
spmspv::csr_csc_pair<T> both_ways(const std::shared_ptr<device>& device,
                                  const local_csr<T>& block) {
    std::vector<std::int64_t> offsets(block.offsets.begin(), block.offsets.end());
    for (std::int64_t& offset : offsets) offset -= block.offsets.front();
    const csr_view<T> rows(block.rows, block.columns, offsets, block.indices, block.values);
    return {device, rows, 0, block.rows, spmspv::entry_order::as_given};
}

/// Returns the kernel that sorts: with atomic kernels sums would depend on the order of arrival.
kernel reproducible(kernel k) {
    return spmspv::kernel_of(spmspv::direction_of(k), spmspv::distribution_of(k),
                             spmspv::write_back::sort);
}

template <class T>
std::int64_t most_frontier_nonzeros(const device& device, const device_matrix<T>& usual,
                                    std::int64_t rows) {
    constexpr auto entry_bytes = static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t));
    return most_column_nonzeros(device.kind(), {rows, usual.matrix_bytes(), entry_bytes});
}

template <class T>
class column_adaptive_matrix final : public device_matrix<T> {
public:
    column_adaptive_matrix(std::shared_ptr<device> device, const local_csr<T>& block,
                           std::unique_ptr<device_matrix<T>> dense)
        : device_(std::move(device)),
          model_(spmspv::model_for(*device_)),
          dense_(std::move(dense)),
          most_frontier_nonzeros_(most_frontier_nonzeros(*device_, *dense_, block.rows)),
          matrix_(both_ways(device_, block)),
          x_(device_, block.columns, T(0), "sparse products"),
          y_(device_, block.rows, T(0), "sparse products"),
          scratch_(device_),
          list_(device_, KRYLITH_ON(*device_, list_scratch_bytes(block.columns)),
                "sparse products") {
        // Scratch memory is allocated here, so that products allocate nothing.
        const std::int64_t entries = std::min(most_frontier_nonzeros_, block.columns);
        for (const kernel k : {kernel::column_sort, kernel::column_balanced_sort})
            (void)scratch_.at_least(KRYLITH_ON(
                *device_, kernel_scratch_bytes<T>(*device_, k, entries, most_frontier_nonzeros_)));
    }

    void prepare(const spmv_arguments<T>& a) override {
        KRYLITH_ON(*device_, before_product(*device_, a));
        list_entries(a.x);
    }
    void apply(const spmv_arguments<T>& a) override {
        std::int64_t frontier_nonzeros = -1;
        const kernel chosen = choose(frontier_nonzeros);
        if (spmspv::direction_of(chosen) != spmspv::direction::push) {
            ++dense_products_;
            return dense_->apply(after_waiting(a));
        }
        ++column_products_[static_cast<std::size_t>(chosen)];
        spmspv::multiply<spmspv::plus_times<T>>(chosen, matrix_, x_, y_, scratch_,
                                                {.wanted = vector_form::pairs}, frontier_nonzeros);
        y_.require(vector_form::dense);
        KRYLITH_ON(*device_, after_product(*device_, a, y_.size(), y_.arrays().dense));
    }

    void update(std::span<const T> values) override {
        dense_->update(values);
        matrix_.update(values);
    }
    void update_on_device(const T* values) override {
        dense_->update_on_device(values);
        matrix_.update_on_device(values);
    }
    void diagonal(T* d, const row_map& rows, std::int64_t first_owned) const override {
        dense_->diagonal(d, rows, first_owned);
    }
    [[nodiscard]] buffer<residual_sums> residual(const residual_operands<T>& a) const override {
        return dense_->residual(a);
    }
    [[nodiscard]] std::string name() const override { return dense_->name(); }
    [[nodiscard]] bool recordable() const override { return false; }
    [[nodiscard]] std::int64_t matrix_bytes() const override { return dense_->matrix_bytes(); }
    [[nodiscard]] double narrow_fraction() const override { return dense_->narrow_fraction(); }
    [[nodiscard]] std::vector<kernel_use> kernel_uses() const override {
        std::vector<kernel_use> uses = {{dense_->name(), dense_products_}};
        for (std::size_t k = 0; k < column_products_.size(); ++k)
            if (column_products_[k] != 0)
                uses.push_back({std::string(spmspv::kernel_names[k]), column_products_[k]});
        return uses;
    }

private:
    /// Lists the entries of x that are not 0.
    void list_entries(const T* x) {
        spmspv::vector_arrays<T> arrays = x_.overwrite();
        arrays.dense = const_cast<T*>(x); // what follows only reads it
        KRYLITH_ON(*device_, bits_of_dense(*device_, arrays));
        KRYLITH_ON(*device_, list_bits(*device_, arrays, list_.data()));
        KRYLITH_ON(*device_, gather_values(*device_, arrays));
        x_.holds(vector_form::pairs | vector_form::bits, true);
    }

    /// Returns the kernel for x. Sets `frontier_nonzeros` if they had to be counted.
    [[nodiscard]] kernel choose(std::int64_t& frontier_nonzeros) {
        if (x_.count() > most_frontier_nonzeros_)
            return kernel::spmv; // every column has at least one entry
        spmspv::product_features<T, T> features(matrix_, x_, x_.forms() | vector_form::dense,
                                                vector_form::dense, frontier_nonzeros);
        const kernel found = spmspv::choose_kernel(model_, std::ref(features));
        frontier_nonzeros = features.known_nonzeros();
        if (spmspv::direction_of(found) != spmspv::direction::push) return kernel::spmv;
        // The trees were trained on atomic kernels, which need no sort, and without SELL.
        if (frontier_nonzeros < 0) frontier_nonzeros = spmspv::count_frontier_nonzeros(matrix_, x_);
        return frontier_nonzeros <= most_frontier_nonzeros_ ? reproducible(found) : kernel::spmv;
    }

    [[nodiscard]] spmv_arguments<T> after_waiting(const spmv_arguments<T>& a) const {
#if KRYLITH_HAVE_CUDA
        if (device_->kind() == backend::cuda) return cuda::after_waiting(a);
#endif
        return a;
    }

    std::shared_ptr<device> device_;
    spmspv::kernel_model model_;
    std::unique_ptr<device_matrix<T>> dense_;
    std::int64_t most_frontier_nonzeros_; ///< the most in columns that are multiplied
    spmspv::csr_csc_pair<T> matrix_;
    spmspv::sparse_vector<T> x_;
    spmspv::sparse_vector<T> y_;
    spmspv::product_scratch scratch_;
    buffer<std::byte> list_; ///< scratch memory of the conversions
    std::int64_t dense_products_ = 0;
    std::array<std::int64_t, spmspv::kernel_count> column_products_ = {};
};

} // namespace

template <class T>
std::unique_ptr<device_matrix<T>> make_adaptive(const std::shared_ptr<device>& device,
                                                const local_csr<T>& block, format_kind dense) {
    auto usual = make_device_matrix(device, block, dense);
    if (most_frontier_nonzeros(*device, *usual, block.rows) < 0) return usual;
    return std::make_unique<column_adaptive_matrix<T>>(device, block, std::move(usual));
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<device_matrix<T>> make_adaptive(const std::shared_ptr<device>&,       \
                                                             const local_csr<T>&, format_kind);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
