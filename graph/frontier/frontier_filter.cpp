#include <krylith/graph/frontier/frontier_filter.hpp>

#include <algorithm>
#include <bit>
#include <utility>

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::spmspv {

frontier_filter::frontier_filter(std::shared_ptr<device> device, std::int64_t rows, int parts)
    : device_(std::move(device)),
      scratch_(device_, KRYLITH_ON(*device_, frontier_scratch_bytes(rows)), "frontiers"),
      parts_(as_size(parts)),
      posted_(device_, std::max(1 + parts, 3)) {
    scratch_.zero();
}

template <class Rule>
void frontier_filter::enqueue(const Rule& rule, sparse_vector<typename Rule::value_type>& y,
                              sparse_vector<typename Rule::value_type>& next,
                              const column_lengths& lengths, std::int64_t most) {
    const bool pairs = y.forms().has(vector_form::pairs);
    if (!pairs) y.require(vector_form::dense);
    forms_ = pairs ? vector_forms(vector_form::pairs) : vector_form::bits | vector_form::dense;
    ascending_ = !pairs || y.ascending();
    auto from = y.arrays();
    if (!y.forms().has(vector_form::bits)) from.bits = nullptr;
    const frontier_arguments<typename Rule::value_type> a{
        from, pairs ? next.overwrite_pairs() : next.overwrite(), lengths, scratch_.data(),
        posted_.next()};
    if (pairs)
        KRYLITH_ON(*device_, filter_pairs(*device_, rule, a, most));
    else
        KRYLITH_ON(*device_, filter_bits(*device_, rule, a));
}

template <class Rule>
void frontier_filter::enqueue_all(const Rule& rule, sparse_vector<typename Rule::value_type>& next,
                                  const column_lengths& lengths) {
    using T = typename Rule::value_type;
    forms_ = vector_form::bits | vector_form::dense;
    ascending_ = true;
    const vector_arrays<T> all{nullptr, nullptr,     nullptr,      nullptr,
                               nullptr, next.size(), next.absent()};
    const frontier_arguments<T> a{all, next.overwrite(), lengths, scratch_.data(), posted_.next()};
    KRYLITH_ON(*device_, filter_bits(*device_, rule, a));
}

template <class T>
frontier_filter::kept frontier_filter::wait(sparse_vector<T>& next) {
    const auto words = posted_.wait();
    next.holds(forms_, ascending_, words[0]);
    return {words[0], words.subspan(1, parts_)};
}

template <class T>
power_step_arguments<T> frontier_filter::step_into(sparse_vector<T>& next, const T* y,
                                                   bool wanted) {
    const vector_arrays<T> x = next.overwrite();
    next.holds(vector_form::bits | vector_form::dense, true, next.size());
    return {y, x.dense, x.bits, x.size, scratch_.data(), wanted ? posted_.next() : post_address{}};
}

template <class T>
void frontier_filter::enqueue_step(const power_step<T>& step, sparse_vector<T>* y,
                                   sparse_vector<T>& next, bool wanted) {
    if (y != nullptr) y->require(vector_form::dense);
    const auto a = step_into(next, y == nullptr ? nullptr : y->arrays().dense, wanted);
    KRYLITH_ON(*device_, step_ranks(*device_, step, a));
}

template <class T, class M>
void frontier_filter::enqueue_product([[maybe_unused]] const power_step<T>& step,
                                      const csr_csc_pair<M>& a, const sparse_vector<T>& x,
                                      sparse_vector<T>& next, bool wanted) {
    const auto of = a.by_rows();
    [[maybe_unused]] const compressed_view<T> rows{of.offsets,    of.indices, nullptr,
                                                   of.major_size, of.across,  of.nonzeros};
    [[maybe_unused]] const T* const from = x.arrays().dense;
    [[maybe_unused]] const auto to = step_into<T>(next, nullptr, wanted);
#if KRYLITH_HAVE_CUDA
    cuda::multiply_and_step(*device_, rows, a.chunks(), from, step, to);
#endif
}

frontier_filter::step_sums frontier_filter::sums() {
    const auto words = posted_.wait();
    return {std::bit_cast<double>(words[0]), std::bit_cast<double>(words[1]),
            std::bit_cast<double>(words[2])};
}

template <class T>
double frontier_filter::sum(const T* values, std::int64_t count) {
    KRYLITH_ON(*device_, post_sums(*device_, values, count, 1, scratch_.data(), posted_.next()));
    return std::bit_cast<double>(posted_.wait()[0]);
}

#define KRYLITH_INSTANTIATE(Rule)                                                                  \
    template void frontier_filter::enqueue(const Rule&, sparse_vector<Rule::value_type>&,          \
                                           sparse_vector<Rule::value_type>&,                       \
                                           const column_lengths&, std::int64_t);                   \
    template void frontier_filter::enqueue_all(const Rule&, sparse_vector<Rule::value_type>&,      \
                                               const column_lengths&);
KRYLITH_FOR_FRONTIER_RULES(KRYLITH_INSTANTIATE)
#undef KRYLITH_INSTANTIATE

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template frontier_filter::kept frontier_filter::wait(sparse_vector<T>&);
KRYLITH_INSTANTIATE(std::int32_t)
#include <krylith/device/language/instantiate.inc>

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void frontier_filter::enqueue_step(const power_step<T>&, sparse_vector<T>*,           \
                                                sparse_vector<T>&, bool);
#include <krylith/device/language/instantiate.inc>
#define KRYLITH_INSTANTIATE(T, M)                                                                  \
    template void frontier_filter::enqueue_product(const power_step<T>&, const csr_csc_pair<M>&,   \
                                                   const sparse_vector<T>&, sparse_vector<T>&,     \
                                                   bool);
KRYLITH_INSTANTIATE(double, double)
KRYLITH_INSTANTIATE(double, float)
KRYLITH_INSTANTIATE(float, double)
KRYLITH_INSTANTIATE(float, float)
#undef KRYLITH_INSTANTIATE
#define KRYLITH_INSTANTIATE(T) template double frontier_filter::sum(const T*, std::int64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::spmspv
