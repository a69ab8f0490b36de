#include <krylith/spmv/adaptive_block.hpp>

#include <array>
#include <utility>
#include <vector>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/index_width.hpp>
#include <krylith/spmv/foreign_product.hpp>
#include <krylith/spmv/make_block.hpp>
#include <krylith/spmv/spmspv/kernel_model.hpp>
#include <krylith/spmv/spmspv/product.hpp>
#include <krylith/spmv/spmspv/vector_conversion.hpp>

namespace krylith {

namespace {

using spmspv::feature;
using spmspv::kernel;
using spmspv::vector_form;

/// The block's rows with offsets from 0 on.
template <class T>
spmspv::two_way_matrix<T> both_ways(const std::shared_ptr<device>& where,
                                    const local_block<T>& block) {
    std::vector<std::int64_t> offsets(block.offsets.begin(), block.offsets.end());
    for (std::int64_t& offset : offsets) offset -= block.offsets.front();
    const csr_view<T> rows(block.rows, block.columns, offsets, block.indices, block.values);
    return {where, rows, 0, block.rows, spmspv::entry_order::as_given};
}

/// With atomic kernels sums would depend on who comes first.
kernel reproducible(kernel k) {
    return spmspv::kernel_of(spmspv::pattern_of(k), spmspv::distribution_of(k),
                             spmspv::write_back::sort);
}

template <class T>
class adaptive_block final : public local_matrix<T> {
public:
    adaptive_block(std::shared_ptr<device> where, const local_block<T>& block, local_kind dense)
        : device_(std::move(where)),
          model_(spmspv::model_for(*device_)),
          dense_(make_block(device_, block, dense)),
          matrix_(both_ways(device_, block)),
          x_(device_, block.columns, T(0), "sparse products"),
          y_(device_, block.rows, T(0), "sparse products"),
          scratch_(device_) {}

    void apply(const spmv_arguments<T>& a) override {
        before_product(a);
        look_at(a.x);
        const std::int64_t entries = x_.count();
        std::int64_t work = -1;
        const kernel chosen = choose(entries, work);
        if (spmspv::pattern_of(chosen) != spmspv::pattern::column) {
            ++dense_products_;
            return dense_->apply(after_waiting(a));
        }
        ++column_products_[static_cast<std::size_t>(chosen)];
        spmspv::multiply<spmspv::plus_times<T>>(chosen, matrix_, x_, y_, scratch_,
                                                {.wanted = vector_form::pairs}, work);
        y_.require(vector_form::dense);
        after_product(a, y_.arrays().dense);
    }

    void update(std::span<const T> values) override {
        dense_->update(values);
        matrix_.update(values);
    }
    void update_on_device(const T* values) override {
        dense_->update_on_device(values);
        matrix_.update_on_device(values);
    }
    void diagonal(T* d, const row_map& rows) const override { dense_->diagonal(d, rows); }
    [[nodiscard]] std::string name() const override { return dense_->name(); }
    [[nodiscard]] bool recordable() const override { return false; }
    [[nodiscard]] std::int64_t matrix_bytes() const override { return dense_->matrix_bytes(); }
    [[nodiscard]] std::vector<kernel_use> kernel_uses() const override {
        std::vector<kernel_use> uses = {{dense_->name(), dense_products_}};
        for (std::size_t k = 0; k < column_products_.size(); ++k)
            if (column_products_[k] != 0)
                uses.push_back({std::string(spmspv::kernel_names[k]), column_products_[k]});
        return uses;
    }

private:
    /// Lists the entries of x that are not 0.
    void look_at(const T* x) {
        spmspv::vector_arrays<T> arrays = x_.overwrite();
        arrays.dense = const_cast<T*>(x); // read only by what follows
        if (list_.size() == 0) list_ = {device_, scratch_bytes(), "sparse products"};
#if KRYLITH_HAVE_CUDA
        if (device_->kind() == backend::cuda) {
            cuda::bits_of_dense(*device_, arrays);
            cuda::list_bits(*device_, arrays, list_.data());
            cuda::gather_values(*device_, arrays);
        } else
#endif
        {
            host::bits_of_dense(*device_, arrays);
            host::list_bits(*device_, arrays, list_.data());
            host::gather_values(*device_, arrays);
        }
        x_.holds(vector_form::pairs | vector_form::bits, true);
    }

    [[nodiscard]] std::size_t scratch_bytes() const {
#if KRYLITH_HAVE_CUDA
        if (device_->kind() == backend::cuda) return cuda::list_scratch_bytes(x_.size());
#endif
        return host::list_scratch_bytes(x_.size());
    }

    [[nodiscard]] kernel choose(std::int64_t entries, std::int64_t& work) {
        // More can't pay: a column's entries cost several times what a row's do.
        constexpr std::int64_t sparse_enough = 4;
        if (entries > matrix_.columns() / sparse_enough) return kernel::spmv;
        const spmspv::kernel found = spmspv::choose_kernel(
            model_, [&](feature which) { return value(which, entries, work); });
        return reproducible(found);
    }

    [[nodiscard]] double value(feature which, std::int64_t entries, std::int64_t& work) {
        spmspv::vector_features x;
        x.entries = static_cast<double>(entries);
        x.density = x.entries / static_cast<double>(matrix_.columns());
        x.has_pairs = x.has_dense = x.has_bits = true;
        if (which == feature::effective_nonzeros || which == feature::effective_ratio) {
            if (work < 0) work = spmspv::count_work(matrix_, x_);
            x.effective_nonzeros = static_cast<double>(work);
            x.effective_ratio =
                matrix_.nonzeros() == 0
                    ? 0
                    : x.effective_nonzeros / static_cast<double>(matrix_.nonzeros());
        }
        return spmspv::join(matrix_.features(), x)[static_cast<std::size_t>(which)];
    }

    void before_product(const spmv_arguments<T>& a) {
#if KRYLITH_HAVE_CUDA
        if (device_->kind() == backend::cuda) return cuda::before_product(*device_, a);
#endif
        host::before_product(*device_, a);
    }
    [[nodiscard]] spmv_arguments<T> after_waiting(const spmv_arguments<T>& a) const {
#if KRYLITH_HAVE_CUDA
        if (device_->kind() == backend::cuda) return cuda::after_waiting(a);
#endif
        return a;
    }
    void after_product(const spmv_arguments<T>& a, const T* product) {
#if KRYLITH_HAVE_CUDA
        if (device_->kind() == backend::cuda)
            return cuda::after_product(*device_, a, y_.size(), product);
#endif
        host::after_product(*device_, a, y_.size(), product);
    }

    std::shared_ptr<device> device_;
    spmspv::kernel_model model_;
    std::unique_ptr<local_matrix<T>> dense_;
    spmspv::two_way_matrix<T> matrix_;
    spmspv::sparse_vector<T> x_;
    spmspv::sparse_vector<T> y_;
    spmspv::product_scratch scratch_;
    buffer<std::byte> list_; ///< scratch of the conversions
    std::int64_t dense_products_ = 0;
    std::array<std::int64_t, spmspv::kernel_count> column_products_ = {};
};

} // namespace

template <class T>
std::unique_ptr<local_matrix<T>> make_adaptive(const std::shared_ptr<device>& where,
                                               const local_block<T>& block, local_kind dense) {
    return std::make_unique<adaptive_block<T>>(where, block, dense);
}

template std::unique_ptr<local_matrix<double>>
make_adaptive(const std::shared_ptr<device>&, const local_block<double>&, local_kind);
template std::unique_ptr<local_matrix<float>> make_adaptive(const std::shared_ptr<device>&,
                                                            const local_block<float>&, local_kind);

} // namespace krylith
