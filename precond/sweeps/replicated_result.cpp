#include <krylith/precond/sweeps/replicated_result.hpp>

#include <stdexcept>
#include <utility>

#include <krylith/config.hpp>
#include <krylith/precond/preconditioner.hpp>
#include <krylith/sparse/external/external_product.hpp>
#include <krylith/spmv/replicated/replicated_operator.hpp>

namespace krylith::detail {

namespace {

/// Takes the rows of y from an array of the device, whatever x is.
template <class T>
class array_rows final : public device_matrix<T> {
public:
    array_rows(std::shared_ptr<device> device, std::int64_t rows, const T* from)
        : device_(std::move(device)), rows_(rows), from_(from) {}

    void apply(const spmv_arguments<T>& a) override {
#if KRYLITH_HAVE_CUDA
        if (device_->kind() == backend::cuda) {
            cuda::before_product(*device_, a);
            return cuda::after_product(*device_, a, rows_, from_);
        }
#endif
        host::before_product(*device_, a);
        host::after_product(*device_, a, rows_, from_);
    }
    void update(std::span<const T>) override {
        refuse();
    }
    void update_on_device(const T*) override {
        refuse();
    }
    void diagonal(T*, const row_map&, std::int64_t) const override {
        refuse();
    }
    [[nodiscard]] std::string name() const override {
        return "rows";
    }
    [[nodiscard]] std::int64_t matrix_bytes() const override {
        return 0;
    }

private:
    [[noreturn]] static void refuse() {
        throw std::logic_error("the rows of an array are not a matrix");
    }

    std::shared_ptr<device> device_;
    std::int64_t rows_;
    const T* from_;
};

} // namespace

template <class T>
replicated_result<T>::replicated_result(layout_handle layout, const vector<T>& v) {
    const auto make = [&](const krylith::layout& layout, int rank, const held_entries&) {
        return std::unique_ptr<device_matrix<T>>(std::make_unique<array_rows<T>>(
            layout.comm.handle(rank), layout.rows.owned(rank).size(), v.data(rank)));
    };
    gather_ = std::make_unique<replicated_operator<T>>(operator_layouts{layout, layout}, make);
}

template <class T>
void replicated_result<T>::give(execution& run, const vector<T>& r, vector<T>& z,
                                std::span<const reduction_into<T>> dots) {
    const bool on_the_way = dots.size() <= max_spmv_dots;
    const auto now = on_the_way ? dots : std::span<const reduction_into<T>>{};
    gather_->apply(run, T(1), r, T(0), z, now);
    finish_apply(run, z, on_the_way ? std::span<const reduction_into<T>>{} : dots);
}

#define KRYLITH_INSTANTIATE(T) template class replicated_result<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
