#include <krylith/matrix/compressed/transposition.hpp>

#include <algorithm>
#include <numeric>

#include <omp.h>

#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {
namespace {

/// The number of threads that count. Each has counters of its own, which together must not outgrow
/// the result.
int counting_threads(std::int64_t entries, std::int64_t across) {
    constexpr std::int64_t entries_worth_a_thread = 1 << 15;
    const std::int64_t worth = entries / std::max(entries_worth_a_thread, across);
    return static_cast<int>(std::clamp<std::int64_t>(worth, 1, omp_get_max_threads()));
}

} // namespace

transposition::transposition(std::span<const std::int64_t> offsets,
                             std::span<const std::int32_t> indices, std::int64_t across)
    : offsets_(offsets),
      indices_(indices),
      across_(across),
      team_(counting_threads(static_cast<std::int64_t>(indices.size()), across)) {
    divide_entries();
    count();
    scan();
}

void transposition::divide_entries() {
    const auto entries = static_cast<std::int64_t>(indices_.size());
    first_major_.resize(as_size(team_) + 1);
    for (int t = 0; t <= team_; ++t) {
        const std::int64_t first = entries / team_ * t;
        first_major_[as_size(t)] =
            std::lower_bound(offsets_.begin(), offsets_.end(), first) - offsets_.begin();
    }
    first_major_.front() = 0;
    first_major_.back() = static_cast<std::int64_t>(offsets_.size()) - 1;
}

void transposition::count() {
    resize_in_parallel(next_, as_size(team_ * across_)); // zeros
#pragma omp parallel for schedule(static, 1) num_threads(team_)
    for (int t = 0; t < team_; ++t) {
        std::int64_t* const counts = next_of(t);
        const std::int64_t end = offsets_[as_size(first_major_[as_size(t) + 1])];
        for (std::int64_t k = offsets_[as_size(first_major_[as_size(t)])]; k < end; ++k) {
            ++counts[indices_[as_size(k)]];
        }
    }
}

/// Turns counts into places: column by column, within a column thread by thread. Blocks of columns
/// are scanned twice, for their totals and, once what stands before them is known, for the places.
void transposition::scan() {
    result_offsets_.resize(as_size(across_) + 1);
    std::vector<std::int64_t> before(as_size(team_) + 1, 0);
    const auto columns_of = [this](int block, const auto& use) {
        const std::int64_t end = across_ * (block + 1) / team_;
        for (std::int64_t column = across_ * block / team_; column < end; ++column) {
            for (int t = 0; t < team_; ++t) {
                use(column, next_of(t)[column]);
            }
        }
    };
#pragma omp parallel for schedule(static, 1) num_threads(team_)
    for (int block = 0; block < team_; ++block) {
        std::int64_t sum = 0;
        columns_of(block, [&](std::int64_t, std::int64_t& number) { sum += number; });
        before[as_size(block) + 1] = sum;
    }
    std::partial_sum(before.begin(), before.end(), before.begin());
#pragma omp parallel for schedule(static, 1) num_threads(team_)
    for (int block = 0; block < team_; ++block) {
        std::int64_t place = before[as_size(block)];
        columns_of(block, [&](std::int64_t column, std::int64_t& number) {
            const std::int64_t count = number;
            number = place;
            place += count;
            result_offsets_[as_size(column + 1)] = place; // the last thread's value stays
        });
    }
}

} // namespace krylith
