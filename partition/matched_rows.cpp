#include <krylith/partition/matched_rows.hpp>

#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/ordering/reordered_matrix.hpp>
#include <krylith/partition/ordering/reordering.hpp>
#include <krylith/partition/ordering/row_matching.hpp>

namespace krylith {

namespace {

void check_count(const char* what, std::size_t given, std::size_t expected) {
    if (given != expected)
        throw usage_error("matched_rows: " + std::to_string(given) + " " + what + ", must be " +
                          std::to_string(expected));
}

template <class T>
row_matching match(const csr_view<T>& a) {
    if (a.rows != a.columns)
        throw usage_error("matched_rows needs a square matrix; A is " + std::to_string(a.rows) +
                          " x " + std::to_string(a.columns));
    (void)validate(a);
    const std::vector<double> values(a.values.begin(), a.values.end());
    return match_rows({a.rows, a.columns, a.row_offsets, a.column_indices, values});
}

} // namespace

template <class T>
matched_rows<T>::matched_rows(const csr_view<T>& a) {
    row_matching matching = match(a);
    permutation order;
    order.place.resize(matching.row_at.size());
    for (std::size_t i = 0; i < matching.row_at.size(); ++i)
        order.place[as_size(matching.row_at[i])] = static_cast<std::int32_t>(i);
    order.source = std::move(matching.row_at);
    reordered_matrix<T> moved = reordered(a, &order, nullptr);
    matrix_ = std::move(moved.matrix);
    entry_source_ = std::move(moved.entry_source);
    row_at_ = std::move(order.source);
    unmatched_ = a.rows - matching.matched;
}

template <class T>
std::vector<T> matched_rows<T>::right_hand_side(std::span<const T> b) const {
    check_count("entries of b", b.size(), row_at_.size());
    std::vector<T> result;
    result.reserve(b.size());
    for (const std::int32_t row : row_at_) result.push_back(b[as_size(row)]);
    return result;
}

template <class T>
void matched_rows<T>::update(std::span<const T> values) {
    check_count("values", values.size(), entry_source_.size());
    for (std::size_t k = 0; k < values.size(); ++k)
        matrix_.values[k] = values[as_size(entry_source_[k])];
}

template <class T>
std::int64_t matched_rows<T>::moved() const {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < row_at_.size(); ++i)
        count += row_at_[i] != static_cast<std::int32_t>(i) ? 1 : 0;
    return count;
}

#define KRYLITH_INSTANTIATE(T) template class matched_rows<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
