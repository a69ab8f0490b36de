#include <krylith/matrix/compressed/scan_transposition.hpp>

#include <numeric>

#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

template <class Counter>
scan_transposition<Counter>::scan_transposition(const compressed_pattern& a,
                                                std::span<std::int64_t> result_offsets, int parts)
    : a_(a), parts_(parts), begins_(divide_entries(a, parts)) {
    count();
    scan(result_offsets);
}

template <class Counter>
void scan_transposition<Counter>::count() {
    resize_in_parallel(next_, as_size(parts_ * a_.across)); // zeros
#pragma omp parallel for schedule(static, 1) num_threads(parts_)
    for (int part = 0; part < parts_; ++part) {
        Counter* const counts = next_of(part);
        const std::int32_t* const indices = a_.indices.data();
        const std::int64_t end = begins_[as_size(part) + 1].entry;
        for (std::int64_t k = begins_[as_size(part)].entry; k < end; ++k) ++counts[indices[k]];
    }
}

/// Turns counts into places: column by column, within a column part by part. Blocks of columns are
/// scanned twice, for their totals and, once what stands before them is known, for the places.
template <class Counter>
void scan_transposition<Counter>::scan(std::span<std::int64_t> result_offsets) {
    std::vector<std::int64_t> before(as_size(parts_) + 1, 0);
    const auto columns_of = [this](int block, const auto& use) {
        const std::int64_t end = a_.across * (block + 1) / parts_;
        for (std::int64_t column = a_.across * block / parts_; column < end; ++column)
            for (int part = 0; part < parts_; ++part) use(column, next_of(part)[column]);
    };
#pragma omp parallel for schedule(static, 1) num_threads(parts_)
    for (int block = 0; block < parts_; ++block) {
        std::int64_t sum = 0;
        columns_of(block, [&](std::int64_t, Counter& number) {
            sum += static_cast<std::int64_t>(number);
        });
        before[as_size(block) + 1] = sum;
    }
    std::partial_sum(before.begin(), before.end(), before.begin());
    result_offsets[0] = 0;
#pragma omp parallel for schedule(static, 1) num_threads(parts_)
    for (int block = 0; block < parts_; ++block) {
        std::int64_t place = before[as_size(block)];
        columns_of(block, [&](std::int64_t column, Counter& number) {
            const auto count = static_cast<std::int64_t>(number);
            number = static_cast<Counter>(place);
            place += count;
            result_offsets[as_size(column + 1)] = place; // the last part's value stays
        });
    }
}

template class scan_transposition<std::uint32_t>;
template class scan_transposition<std::int64_t>;

} // namespace krylith
