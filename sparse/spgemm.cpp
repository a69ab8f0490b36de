#include <krylith/sparse/spgemm.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/sparse/spgemm/spgemm_phases.hpp>

namespace krylith {

namespace {

template <class T>
std::string size_of(const device_csr<T>& a) {
    return std::to_string(a.rows()) + " x " + std::to_string(a.columns());
}

template <class T>
void check_factors(const device_csr<T>& a, const device_csr<T>& b) {
    if (a.on() == nullptr || b.on() == nullptr)
        throw usage_error("spgemm: a factor is empty; both need a device");
    if (a.on() != b.on())
        throw usage_error("spgemm: A lies on " + a.on()->description() + " and B on " +
                          b.on()->description() + "; they must be on one device");
    if (a.columns() != b.rows())
        throw usage_error("spgemm: A is " + size_of(a) + " and B is " + size_of(b) +
                          "; A must have as many columns as B has rows");
}

// The choice between host and CUDA.

template <class T>
std::unique_ptr<detail::spgemm_phases<T>> make_phases(const device_csr<T>& a,
                                                      const device_csr<T>& b, device_csr<T>* c) {
    check_factors(a, b);
#if KRYLITH_HAVE_CUDA
    if (a.on()->kind() == backend::cuda) {
        auto phases = cuda::make_spgemm(a, b);
        if (c != nullptr) *c = phases->take(a, b);
        return phases;
    }
#endif
    return host::make_spgemm(a, b, c);
}

} // namespace

namespace detail {

void refuse_order(const std::string& who, const std::string& name, std::int64_t row,
                  std::int64_t before, std::int64_t column) {
    throw input_error(who + ": row " + std::to_string(row) + " of " + name + " has column " +
                      std::to_string(column) + " after column " + std::to_string(before) +
                      "; columns of " + name +
                      " must ascend strictly in each row (transposing twice sorts them)");
}

} // namespace detail

template <class T>
spgemm<T>::spgemm(const device_csr<T>& a, const device_csr<T>& b)
    : rows_(a.rows()),
      columns_(b.columns()),
      inner_(b.rows()),
      a_nonzeros_(a.nonzeros()),
      b_nonzeros_(b.nonzeros()),
      phases_(make_phases<T>(a, b, nullptr)) {}

template <class T>
spgemm<T>::spgemm(const device_csr<T>& a, const device_csr<T>& b, device_csr<T>& c)
    : taken_(true),
      rows_(a.rows()),
      columns_(b.columns()),
      inner_(b.rows()),
      a_nonzeros_(a.nonzeros()),
      b_nonzeros_(b.nonzeros()),
      phases_(make_phases(a, b, &c)) {
    c.set_ascending(true);
}

template <class T>
spgemm<T>::spgemm(spgemm&&) noexcept = default;
template <class T>
spgemm<T>& spgemm<T>::operator=(spgemm&&) noexcept = default;
template <class T>
spgemm<T>::~spgemm() = default;

template <class T>
void spgemm<T>::check(const device_csr<T>& a, const device_csr<T>& b) const {
    check_factors(a, b);
    const auto compare = [](const char* what, std::int64_t found, std::int64_t planned) {
        if (found != planned)
            throw usage_error(std::string("spgemm: ") + what + " is " + std::to_string(found) +
                              "; the plan was made for " + std::to_string(planned));
    };
    compare("the number of rows of A", a.rows(), rows_);
    compare("the number of columns of A", a.columns(), inner_);
    compare("the number of columns of B", b.columns(), columns_);
    compare("the number of nonzeros of A", a.nonzeros(), a_nonzeros_);
    compare("the number of nonzeros of B", b.nonzeros(), b_nonzeros_);
}

template <class T>
device_csr<T> spgemm<T>::multiply(const device_csr<T>& a, const device_csr<T>& b) const {
    check(a, b);
    need_pattern();
    device_csr<T> c = phases_->multiply(a, b);
    c.set_ascending(true);
    return c;
}

template <class T>
device_csr<T> spgemm<T>::take(const device_csr<T>& a, const device_csr<T>& b) {
    check(a, b);
    need_pattern();
    device_csr<T> c = phases_->take(a, b);
    c.set_ascending(true);
    taken_ = true;
    return c;
}

template <class T>
void spgemm<T>::need_pattern() const {
    if (taken_) throw usage_error("spgemm: take() has given the pattern away");
}

template <class T>
void spgemm<T>::refresh(const device_csr<T>& a, const device_csr<T>& b, device_csr<T>& c) const {
    check(a, b);
    if (c.on() != a.on() || c.rows() != rows_ || c.columns() != columns_ ||
        c.nonzeros() != phases_->nonzeros)
        throw usage_error("spgemm::refresh: C is " + size_of(c) + " with " +
                          std::to_string(c.nonzeros()) + " nonzeros; the plan was made for " +
                          std::to_string(rows_) + " x " + std::to_string(columns_) + " with " +
                          std::to_string(phases_->nonzeros) + " nonzeros on the device of A");
    phases_->refresh(a, b, c);
}

template <class T>
std::int64_t spgemm<T>::nonzeros() const {
    return phases_->nonzeros;
}
template <class T>
std::int64_t spgemm<T>::products() const {
    return phases_->products;
}
template <class T>
std::int64_t spgemm<T>::bytes() const {
    return phases_->bytes;
}
template <class T>
std::int64_t spgemm<T>::peak_bytes() const {
    return phases_->peak_bytes;
}

template <class T>
spgemm_estimate spgemm<T>::estimate(const device_csr<T>& a, const device_csr<T>& b) {
    check_factors(a, b);
    return KRYLITH_ON(*a.on(), estimate_spgemm(a, b));
}

template <class T>
galerkin_product<T>::galerkin_product(const device_csr<T>& r, const device_csr<T>& a,
                                      const device_csr<T>& p)
    : first_(a, p, intermediate_), second_(r, intermediate_, result_) {}

template <class T>
void galerkin_product<T>::refresh(const device_csr<T>& r, const device_csr<T>& a,
                                  const device_csr<T>& p) {
    first_.refresh(a, p, intermediate_);
    second_.refresh(r, intermediate_, result_);
}

template <class T>
std::int64_t galerkin_product<T>::bytes() const {
    return first_.bytes() + intermediate_.bytes() + second_.bytes();
}

template <class T>
std::int64_t galerkin_product<T>::peak_bytes() const {
    return std::max(first_.peak_bytes(),
                    first_.bytes() + intermediate_.bytes() + second_.peak_bytes());
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template class spgemm<T>;                                                                      \
    template class galerkin_product<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
