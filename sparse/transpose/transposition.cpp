#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/sparse/transpose.hpp>
#include <krylith/sparse/transpose/transpose_kernels.hpp>

namespace krylith {

namespace {

constexpr const char* pattern_item = "transposed pattern";

/// The kernels of the device's kind: the choice stands here alone.
template <class T>
void transpose_on(const std::shared_ptr<device>& on, const csr_pattern& a,
                  const transposed_arrays<T>& to) {
    KRYLITH_ON(*on, transpose_pattern(on, a, to));
}

template <class T>
void permute_on(device& on, const permutation_view& places, std::int64_t count, const T* from,
                T* to) {
    KRYLITH_ON(on, permute(on, places, count, from, to));
}

template <class T>
const std::shared_ptr<device>& device_of(const device_csr<T>& a, const char* what) {
    if (a.on() == nullptr) throw usage_error(std::string(what) + ": the matrix is on no device");
    return a.on();
}

} // namespace

template <class T>
device_csr<T> transpose(const device_csr<T>& a) {
    const std::shared_ptr<device>& on = device_of(a, "transpose");
    const auto nonzeros = static_cast<std::size_t>(a.nonzeros());
    buffer<std::int64_t> offsets(on, static_cast<std::size_t>(a.columns()) + 1, pattern_item);
    buffer<std::int32_t> indices(on, nonzeros, pattern_item);
    buffer<T> values(on, nonzeros, "transposed values");
    transpose_on<T>(on, a.pattern(),
                    {offsets.data(), indices.data(), a.view().values, values.data(), {}});
    device_csr<T> result(on, a.rows(), std::move(offsets), std::move(indices), std::move(values));
    result.set_ascending(a.ascends());
    return result;
}

template <class T>
transposition::transposition(const device_csr<T>& a)
    : device_(device_of(a, "transposition")),
      rows_(a.rows()),
      columns_(a.columns()),
      nonzeros_(a.nonzeros()),
      offsets_(device_, static_cast<std::size_t>(columns_) + 1, pattern_item),
      indices_(device_, static_cast<std::size_t>(nonzeros_), pattern_item) {
    const auto count = static_cast<std::size_t>(nonzeros_);
    if (has_narrow_positions(nonzeros_))
        narrow_ = buffer<std::uint32_t>(device_, count, "permutation of a transposition");
    else
        wide_ = buffer<std::int64_t>(device_, count, "permutation of a transposition");
    transpose_on<T>(device_, a.pattern(),
                    {offsets_.data(), indices_.data(), nullptr, nullptr, places()});
}

template <class T>
void transposition::check(const char* what, const device_csr<T>& a) const {
    if (device_ == nullptr) throw usage_error(std::string(what) + ": no pattern was given yet");
    if (a.on() != device_.get())
        throw usage_error(std::string(what) + ": the matrix is on another device than the pattern");
    if (a.rows() == rows_ && a.columns() == columns_ && a.nonzeros() == nonzeros_) return;
    const auto sizes = [](std::int64_t m, std::int64_t n, std::int64_t k) {
        return std::to_string(m) + " x " + std::to_string(n) + " with " + std::to_string(k) +
               " nonzeros";
    };
    throw usage_error(std::string(what) + ": the matrix is " +
                      sizes(a.rows(), a.columns(), a.nonzeros()) + "; the pattern was " +
                      sizes(rows_, columns_, nonzeros_));
}

void transposition::need_pattern(const char* what) const {
    if (!has_pattern())
        throw usage_error(std::string(what) + ": take() has given the pattern away");
}

template <class T>
device_csr<T> transposition::apply(const device_csr<T>& a) const {
    check("transposition::apply", a);
    need_pattern("transposition::apply");
    buffer<std::int64_t> offsets(device_, offsets_.size(), pattern_item);
    buffer<std::int32_t> indices(device_, indices_.size(), pattern_item);
    device_->copy(offsets.data(), offsets_.data(), offsets_.size() * sizeof(std::int64_t));
    if (nonzeros_ != 0)
        device_->copy(indices.data(), indices_.data(), indices_.size() * sizeof(std::int32_t));
    buffer<T> values(device_, indices_.size(), "transposed values");
    apply(a.view().values, values.data());
    device_csr<T> result(device_, rows_, std::move(offsets), std::move(indices), std::move(values));
    result.set_ascending(a.ascends());
    return result;
}

template <class T>
device_csr<T> transposition::take(const device_csr<T>& a) {
    check("transposition::take", a);
    need_pattern("transposition::take");
    buffer<T> values(device_, indices_.size(), "transposed values");
    apply(a.view().values, values.data());
    device_csr<T> result(device_, rows_, std::exchange(offsets_, {}), std::exchange(indices_, {}),
                         std::move(values));
    result.set_ascending(a.ascends());
    return result;
}

template <class T>
void transposition::apply(const device_csr<T>& a, device_csr<T>& transposed) const {
    check("transposition::apply", a);
    if (transposed.on() != device_.get() || transposed.rows() != columns_ ||
        transposed.columns() != rows_ || transposed.nonzeros() != nonzeros_)
        throw usage_error("transposition::apply: the second matrix is not the first one's "
                          "transposed on the same device");
    apply(a.view().values, transposed.values());
}

template <class T>
void transposition::apply(const T* values, T* transposed) const {
    if (nonzeros_ != 0) permute_on(*device_, places(), nonzeros_, values, transposed);
}

std::int64_t transposition::bytes() const noexcept {
    return static_cast<std::int64_t>(
        offsets_.size() * sizeof(std::int64_t) + indices_.size() * sizeof(std::int32_t) +
        narrow_.size() * sizeof(std::uint32_t) + wide_.size() * sizeof(std::int64_t));
}

permutation_view transposition::places() const noexcept {
    return {narrow_.data(), wide_.data()};
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template device_csr<T> transpose(const device_csr<T>&);                                        \
    template transposition::transposition(const device_csr<T>&);                                   \
    template device_csr<T> transposition::apply(const device_csr<T>&) const;                       \
    template device_csr<T> transposition::take(const device_csr<T>&);                              \
    template void transposition::apply(const device_csr<T>&, device_csr<T>&) const;                \
    template void transposition::apply(const T*, T*) const;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
