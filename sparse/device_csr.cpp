#include <krylith/sparse/device_csr.hpp>

#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

std::shared_ptr<device> given(std::shared_ptr<device> device) {
    if (device == nullptr) throw usage_error("device_csr: the device is null");
    return device;
}

template <class T>
void check_csr(const csr_view<T>& a) {
    check_index_size("device_csr: the number of rows", a.rows);
    validate_pattern(a);
    if (a.values.size() != a.column_indices.size())
        throw input_error("device_csr: there are " + std::to_string(a.values.size()) +
                          " values for " + std::to_string(a.column_indices.size()) +
                          " column indices");
}

std::shared_ptr<const csr_arrays> pattern_of(buffer<std::int64_t> offsets,
                                             buffer<std::int32_t> indices) {
    return std::make_shared<const csr_arrays>(csr_arrays{std::move(offsets), std::move(indices)});
}

} // namespace

template <class T>
device_csr<T>::device_csr(std::shared_ptr<device> device, const csr_view<T>& a)
    : device_(given(std::move(device))),
      rows_((check_csr(a), a.rows)),
      columns_(a.columns),
      pattern_(std::make_shared<const csr_arrays>(
          csr_arrays{{device_, a.row_offsets, "offsets of a matrix"},
                     {device_, a.column_indices, "columns of a matrix"}})),
      values_(device_, a.values, "values of a matrix") {}

template <class T>
device_csr<T>::device_csr(std::shared_ptr<device> device, std::int64_t columns,
                          buffer<std::int64_t> offsets, buffer<std::int32_t> indices,
                          buffer<T> values)
    : device_csr(std::move(device), columns, pattern_of(std::move(offsets), std::move(indices)),
                 std::move(values)) {}

template <class T>
device_csr<T>::device_csr(std::shared_ptr<device> device, std::int64_t columns,
                          buffer<std::int64_t> offsets, buffer<std::int32_t> indices,
                          borrowed_values<T> values)
    : device_csr(std::move(device), columns, pattern_of(std::move(offsets), std::move(indices)),
                 values) {}

template <class T>
device_csr<T>::device_csr(std::shared_ptr<device> device, std::int64_t columns,
                          std::shared_ptr<const csr_arrays> pattern, buffer<T> values)
    : device_csr(std::move(device), columns, std::move(pattern), borrowed_values<T>(nullptr)) {
    values_ = std::move(values);
    if (static_cast<std::size_t>(nonzeros()) != values_.size())
        throw usage_error("device_csr: there are " + std::to_string(nonzeros()) +
                          " column indices and " + std::to_string(values_.size()) +
                          " values; a matrix has as many values as indices");
}

template <class T>
device_csr<T>::device_csr(std::shared_ptr<device> device, std::int64_t columns,
                          std::shared_ptr<const csr_arrays> pattern, borrowed_values<T> values)
    : device_(given(std::move(device))),
      rows_(static_cast<std::int64_t>(pattern->offsets.size()) - 1),
      columns_(columns),
      pattern_(std::move(pattern)),
      borrowed_(values) {
    if (rows_ < 0) throw usage_error("device_csr: there is no offset; a matrix has at least 1");
}

template <class T>
std::int64_t device_csr<T>::bytes() const noexcept {
    if (pattern_ == nullptr) return 0;
    return static_cast<std::int64_t>(pattern_->offsets.size() * sizeof(std::int64_t) +
                                     pattern_->indices.size() * sizeof(std::int32_t) +
                                     values_.size() * sizeof(T));
}

template <class T>
device_csr_view<T> device_csr<T>::view() const noexcept {
    if (pattern_ == nullptr) return {};
    return {rows_,
            columns_,
            nonzeros(),
            pattern_->offsets.data(),
            pattern_->indices.data(),
            borrowed_.data != nullptr ? borrowed_.data : values_.data()};
}

template <class T>
void device_csr<T>::update(std::span<const T> values) {
    if (values.size() != values_.size())
        throw usage_error("device_csr::update: there are " + std::to_string(values.size()) +
                          " values; the matrix has " + std::to_string(values_.size()) +
                          " nonzeros");
    values_.upload(values);
}

template <class T>
csr_matrix<T> device_csr<T>::download() const {
    csr_matrix<T> a;
    a.rows = rows_;
    a.columns = columns_;
    if (pattern_ == nullptr) return a;
    a.row_offsets = pattern_->offsets.download();
    a.column_indices = pattern_->indices.download();
    a.values.resize(a.column_indices.size());
    if (!a.values.empty())
        device_->download(a.values.data(), view().values, a.values.size() * sizeof(T));
    return a;
}

#define KRYLITH_INSTANTIATE(T) template class device_csr<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
