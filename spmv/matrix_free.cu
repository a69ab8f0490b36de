// A user's product function on a CUDA device.

#include <utility>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/external/external_matrix.hpp>
#include <krylith/sparse/external/external_product.hpp>

namespace krylith::cuda {

namespace {

template <class T>
class external_matrix final : public device_matrix<T> {
public:
    external_matrix(std::shared_ptr<device> device, external_product<T> product)
        : device_(std::move(device)),
          product_(std::move(product)),
          result_(device_, static_cast<std::size_t>(product_.rows.size()), "product") {}

    void apply(const spmv_arguments<T>& a) override {
        before_product(*device_, a);
        // The function computes A x; any other product goes through a vector of its own, and so
        // does a product that a stopped loop still computes.
        const bool plain = a.alpha == T(1) && a.beta == T(0) && !a.common.guarded;
        T* const y = plain ? a.y : result_.data();
        if (product_.kind == product_kind::on_host) {
            compute_on_host(a.x, y);
        } else {
            const auto& d = static_cast<cuda_device&>(*device_);
            const current_device current(d.ordinal());
            product_.function(
                {product_.rank, product_.rows, a.x + product_.x.first, y, d.stream()});
        }
        after_product(*device_, a, product_.rows.size(), y);
    }

    void update(std::span<const T>) override {
        throw usage_error("a matrix-free operator has no values to update");
    }
    void update_on_device(const T*) override { update({}); }
    void diagonal(T*, const row_map&, std::int64_t) const override {
        throw usage_error("a matrix-free operator does not know its diagonal");
    }
    [[nodiscard]] std::string name() const override { return "own"; }
    [[nodiscard]] bool recordable() const override {
        return product_.kind == product_kind::on_device ||
               product_.kind == product_kind::on_device_alike;
    }
    [[nodiscard]] bool recorded_alike() const override {
        return product_.kind == product_kind::on_device_alike;
    }
    [[nodiscard]] std::int64_t matrix_bytes() const override { return 0; }

private:
    void compute_on_host(const T* x, T* y) {
        host_x_.resize(static_cast<std::size_t>(product_.x.count));
        host_y_.resize(result_.size());
        device_->download(host_x_.data(), x, host_x_.size() * sizeof(T));
        product_.function({product_.rank, product_.rows, host_x_.data() + product_.x.first,
                           host_y_.data(), nullptr});
        device_->upload(y, host_y_.data(), host_y_.size() * sizeof(T));
    }

    std::shared_ptr<device> device_;
    external_product<T> product_;
    buffer<T> result_;
    std::vector<T> host_x_;
    std::vector<T> host_y_;
};

} // namespace

template <class T>
std::unique_ptr<device_matrix<T>> make_external(std::shared_ptr<device> device,
                                                const external_product<T>& product) {
    return std::make_unique<external_matrix<T>>(std::move(device), product);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<device_matrix<T>> make_external(std::shared_ptr<device>,              \
                                                             const external_product<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
