// A user's product function on a host device.

#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/epilogue/row_epilogue_host.hpp>
#include <krylith/sparse/external/external_matrix.hpp>

namespace krylith::host {

namespace {

template <class T>
class external_matrix final : public device_matrix<T> {
public:
    external_matrix(std::shared_ptr<device> device, external_product<T> product)
        : device_(std::move(device)),
          product_(std::move(product)),
          result_(device_, static_cast<std::size_t>(product_.rows.size()), "product") {}

    void apply(const spmv_arguments<T>& a) override {
        static_cast<host_device&>(*device_).submit([this, a] {
            registers reg;
            if (!kernel_prologue(a.common, reg)) return;
            const row_epilogue<T> results(a, 1);
            if (!results.before_writing() || !results.before_reading(true)) return;
            // The function computes A x; any other product goes through a vector of its own.
            const bool plain = a.alpha == T(1) && a.beta == T(0);
            T* const y = plain ? a.y : result_.data();
            product_.function({product_.rank, product_.rows, a.x + product_.x.first, y, nullptr});
            row_part<T> all = results.part(0);
            all.take(y, 0, product_.rows.size());
            all.leave();
            results.leave();
        });
    }

    void update(std::span<const T>) override {
        throw usage_error("a matrix-free operator has no values to update");
    }
    void update_on_device(const T*) override { update({}); }
    void diagonal(T*, const row_map&, std::int64_t) const override {
        throw usage_error("a matrix-free operator does not know its diagonal");
    }
    [[nodiscard]] std::string name() const override { return "own"; }
    [[nodiscard]] std::int64_t matrix_bytes() const override { return 0; }

private:
    std::shared_ptr<device> device_;
    external_product<T> product_;
    buffer<T> result_;
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

} // namespace krylith::host
