// A user's product function on a host device.

#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/epilogue/host_product.hpp>
#include <krylith/sparse/external/external_matrix.hpp>

namespace krylith::host {

namespace {

template <class T>
class foreign_matrix final : public local_matrix<T> {
public:
    foreign_matrix(std::shared_ptr<device> where, foreign_product<T> product)
        : device_(std::move(where)),
          product_(std::move(product)),
          result_(device_, static_cast<std::size_t>(product_.rows.size()), "product") {}

    void apply(const spmv_arguments<T>& a) override {
        static_cast<host_device&>(*device_).submit([this, a] {
            registers reg;
            if (!begin(a.common, reg) || !open_results(a.common.mail, a.push) ||
                !wait_for(a.common.mail, a.ghosts))
                return;
            // The function computes A x; anything else goes through a vector of its own.
            const bool plain = a.alpha == T(1) && a.beta == T(0);
            T* const y = plain ? a.y : result_.data();
            product_.function({product_.rank, product_.rows, a.x, y, nullptr});
            write_product(a, y, product_.rows.size());
            finish_product(a, 1);
        });
    }

    void update(std::span<const T>) override {
        throw usage_error("a matrix-free operator has no values to update");
    }
    void update_on_device(const T*) override { update({}); }
    void diagonal(T*, const row_map&) const override {
        throw usage_error("a matrix-free operator does not know its diagonal");
    }
    [[nodiscard]] std::string name() const override { return "own"; }
    [[nodiscard]] std::int64_t matrix_bytes() const override { return 0; }

private:
    std::shared_ptr<device> device_;
    foreign_product<T> product_;
    buffer<T> result_;
};

} // namespace

template <class T>
std::unique_ptr<local_matrix<T>> make_foreign(std::shared_ptr<device> where,
                                              const foreign_product<T>& product) {
    return std::make_unique<foreign_matrix<T>>(std::move(where), product);
}

template std::unique_ptr<local_matrix<double>> make_foreign(std::shared_ptr<device>,
                                                            const foreign_product<double>&);
template std::unique_ptr<local_matrix<float>> make_foreign(std::shared_ptr<device>,
                                                           const foreign_product<float>&);

} // namespace krylith::host
