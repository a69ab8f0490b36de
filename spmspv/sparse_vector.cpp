#include <krylith/spmspv/sparse_vector.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/spmspv/kernels/vector_conversion.hpp>
#include <krylith/spmspv/kernels/vector_fill.hpp>

namespace krylith::spmspv {

namespace {

/// Throws unless indices are in [0, size), each once. Returns whether they ascend.
bool check_indices(std::span<const std::int32_t> indices, std::int64_t size) {
    bool ascending = true;
    for (std::size_t k = 0; k < indices.size(); ++k) {
        if (indices[k] < 0 || indices[k] >= size)
            throw input_error("sparse vector: index number " + std::to_string(k) + " is " +
                              std::to_string(indices[k]) + ", allowed are 0 to " +
                              std::to_string(size - 1));
        ascending = ascending && (k == 0 || indices[k - 1] < indices[k]);
    }
    if (ascending) return true;
    std::vector<std::int32_t> sorted(indices.begin(), indices.end());
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end())
        throw input_error("sparse vector: index " + std::to_string(*twice) +
                          " stands there more than once, allowed is once");
    return false;
}

/// Whether the old entries, as far as the host knows them, are few enough to clean one by one, at a
/// cache line each.
bool few(const std::optional<std::int64_t>& count, std::int64_t size) {
    return !count || *count <= size / 16;
}

} // namespace

template <class T>
sparse_vector<T>::sparse_vector(std::shared_ptr<krylith::device> device, std::int64_t size,
                                T absent, const std::string& item)
    : device_(std::move(device)), size_(size), absent_(absent) {
    check_index_size("sparse vector: the size", size);
    indices_ = {device_, as_size(size), item};
    values_ = {device_, as_size(size), item};
    device_count_ = {device_, 1, item};
    dense_ = {device_, as_size(size), item};
    bits_ = {device_, as_size((size + 31) / 32), item};
    scratch_ = {device_, KRYLITH_ON(*device_, list_scratch_bytes(size)), item};
    clear();
}

template <class T>
vector_arrays<T> sparse_vector<T>::arrays() const noexcept {
    return {indices_.data(), values_.data(), device_count_.data(), dense_.data(), bits_.data(),
            size_,           absent_};
}

template <class T>
void sparse_vector<T>::check_content() const {
    if (forms_.empty())
        throw usage_error("a sparse vector was read between overwrite() and holds(), when it holds "
                          "nothing");
}

template <class T>
auto sparse_vector<T>::residue_of(vector_form form) const noexcept -> residue {
    if (!forms_.has(form)) return form == vector_form::dense ? dense_residue_ : bits_residue_;
    return forms_.has(vector_form::pairs) || indexed_ ? residue::listed : residue::unknown;
}

template <class T>
void sparse_vector<T>::make_clean(vector_forms forms) {
    enum class way : std::uint8_t { none, one_by_one, whole };
    const auto way_of = [&](vector_form form) {
        const residue found = residue_of(form);
        if (!forms.has(form) || found == residue::clean) return way::none;
        if (found == residue::unknown) return way::whole;
        if (count_ == 0) return way::none;
        return few(count_, size_) ? way::one_by_one : way::whole;
    };
    const way dense = way_of(vector_form::dense);
    const way bits = way_of(vector_form::bits);
    if (dense == way::one_by_one && bits == way::one_by_one) // one launch instead of two
        return KRYLITH_ON(*device_, clean_entries(*device_, arrays()));
    if (dense == way::one_by_one) KRYLITH_ON(*device_, clean_values(*device_, arrays()));
    if (dense == way::whole) KRYLITH_ON(*device_, fill_absent(*device_, arrays()));
    if (bits == way::one_by_one) KRYLITH_ON(*device_, clean_bits(*device_, arrays()));
    if (bits == way::whole) bits_.zero();
}

// Copies from and to the host.

template <class T>
void sparse_vector<T>::assign(std::span<const std::int32_t> indices, std::span<const T> values) {
    if (indices.size() != values.size())
        throw input_error("sparse vector: " + std::to_string(indices.size()) + " indices and " +
                          std::to_string(values.size()) +
                          " values were given, must be as many of each");
    const bool ascending = check_indices(indices, size_);
    const auto count = static_cast<std::int32_t>(indices.size());
    (void)overwrite_pairs();
    if (count == 1) { // as at the start of a search: an upload would wait for the device
        fill(*device_, indices_.data(), 1, indices.front());
        fill(*device_, values_.data(), 1, values.front());
    } else if (count != 0) {
        device_->upload(indices_.data(), indices.data(), indices.size_bytes());
        device_->upload(values_.data(), values.data(), values.size_bytes());
    }
    fill(*device_, device_count_.data(), 1, count);
    holds(vector_form::pairs, ascending, count);
}

template <class T>
void sparse_vector<T>::assign(std::span<const T> dense) {
    if (dense.size() != as_size(size_))
        throw input_error("sparse vector: " + std::to_string(dense.size()) +
                          " values were given for all entries, must be " + std::to_string(size_));
    (void)overwrite();
    dense_.upload(dense);
    holds(vector_form::dense, true);
}

template <class T>
void sparse_vector<T>::clear() {
    (void)overwrite_pairs();
    device_count_.zero();
    holds(vector_form::pairs, true, 0);
}

template <class T>
std::vector<T> sparse_vector<T>::download_dense() {
    require(vector_form::dense);
    return dense_.download();
}

template <class T>
typename sparse_vector<T>::host_pairs sparse_vector<T>::download_pairs() {
    require(vector_form::pairs);
    const std::size_t entries = as_size(count());
    host_pairs found = {std::vector<std::int32_t>(entries), std::vector<T>(entries)};
    if (entries == 0) return found;
    device_->download(found.indices.data(), indices_.data(), entries * sizeof(std::int32_t));
    device_->download(found.values.data(), values_.data(), entries * sizeof(T));
    if (ascending_) return found;
    std::vector<std::size_t> order(entries);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return found.indices[a] < found.indices[b]; });
    host_pairs sorted;
    for (const std::size_t k : order) {
        sorted.indices.push_back(found.indices[k]);
        sorted.values.push_back(found.values[k]);
    }
    return sorted;
}

template <class T>
std::int64_t sparse_vector<T>::count() {
    if (count_) return *count_;
    check_content();
    if (!forms_.has(vector_form::pairs)) list();
    std::int32_t found = 0;
    device_->download(&found, device_count_.data(), sizeof(found));
    count_ = found;
    return found;
}

// Conversions.

/// Makes indices and the count from bits.
template <class T>
void sparse_vector<T>::list() {
    if (indexed_) return;
    require(vector_form::bits);
    KRYLITH_ON(*device_, list_bits(*device_, arrays(), scratch_.data()));
    indexed_ = true;
    ascending_ = true;
}

template <class T>
void sparse_vector<T>::require(vector_form form) {
    if (forms_.has(form)) return;
    check_content();
    if (form == vector_form::pairs) {
        list();
        KRYLITH_ON(*device_, gather_values(*device_, arrays()));
    } else if (form == vector_form::dense) {
        if (dense_residue_ == residue::unknown) make_clean(form);
        KRYLITH_ON(*device_, scatter_values(*device_, arrays()));
    } else if (forms_.has(vector_form::pairs)) {
        if (bits_residue_ == residue::unknown) make_clean(form);
        KRYLITH_ON(*device_, scatter_bits(*device_, arrays()));
    } else {
        KRYLITH_ON(*device_, bits_of_dense(*device_, arrays()));
    }
    forms_ = forms_ | form;
}

template <class T>
void sparse_vector<T>::require_ascending_pairs() {
    if (forms_.has(vector_form::pairs) && !ascending_) {
        require(vector_form::bits);
        require(vector_form::dense);
        drop(vector_form::pairs);
        indexed_ = false;
    }
    require(vector_form::pairs);
}

// Writing.

template <class T>
void sparse_vector<T>::drop_content(vector_forms clean) {
    make_clean(clean);
    const auto after = [&](vector_form form) {
        return clean.has(form) || residue_of(form) == residue::clean ? residue::clean
                                                                     : residue::unknown;
    };
    dense_residue_ = after(vector_form::dense);
    bits_residue_ = after(vector_form::bits);
    forms_ = {};
    indexed_ = false;
    count_.reset();
}

template <class T>
vector_arrays<T> sparse_vector<T>::overwrite(vector_forms clean) {
    drop_content(clean);
    asked_ = clean;
    return arrays();
}

template <class T>
vector_arrays<T> sparse_vector<T>::overwrite_pairs() {
    vector_forms listed;
    for (const vector_form form : {vector_form::dense, vector_form::bits})
        if (residue_of(form) == residue::listed && few(count_, size_)) listed = listed | form;
    drop_content(listed);
    asked_ = {};
    return arrays();
}

template <class T>
void sparse_vector<T>::holds(vector_forms forms, bool ascending,
                             std::optional<std::int64_t> count) {
    if (!forms.has(vector_form::pairs) && !forms.has(vector_form::dense))
        throw usage_error("a sparse vector must hold pairs or a dense array: bits alone have no "
                          "values");
    const residue written = forms.has(vector_form::pairs) ? residue::listed : residue::unknown;
    if (asked_.has(vector_form::dense)) dense_residue_ = written;
    if (asked_.has(vector_form::bits)) bits_residue_ = written;
    asked_ = {};
    forms_ = forms;
    ascending_ = ascending;
    indexed_ = false;
    count_ = count;
}

template <class T>
void sparse_vector<T>::drop(vector_form form) {
    if (!forms_.has(form)) return;
    if (form != vector_form::bits &&
        !forms_.has(form == vector_form::dense ? vector_form::pairs : vector_form::dense))
        throw usage_error("a sparse vector can't drop its only form with values");
    const residue left = residue_of(form);
    vector_forms others;
    for (const vector_form other : {vector_form::pairs, vector_form::dense, vector_form::bits})
        if (other != form && forms_.has(other)) others = others | other;
    forms_ = others;
    if (form == vector_form::pairs) indexed_ = true;
    if (form == vector_form::dense) dense_residue_ = left;
    if (form == vector_form::bits) bits_residue_ = left;
}

template class sparse_vector<std::int32_t>;
#define KRYLITH_INSTANTIATE(T) template class sparse_vector<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::spmspv
