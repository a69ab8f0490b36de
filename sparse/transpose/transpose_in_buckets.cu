#include <type_traits>
#include <utility>

#include <krylith/device/cuda/shared_memory.cuh>
#include <krylith/device/loops/two_pass_scan.cuh>
#include <krylith/sparse/transpose/bucket_kernels.cuh>

namespace krylith::cuda {

namespace {

/// Moves entries with their loads: values where T is their type, positions where it is void.
template <class T, class Load>
void move_entries(const std::shared_ptr<device>& on, const csr_pattern& a,
                  const column_buckets& cut, const bucket_counts& counts, std::int64_t largest,
                  const T* values, std::int64_t* offsets, std::int32_t* rows, Load* loads) {
    const auto count = static_cast<std::size_t>(a.nonzeros);
    const buffer<std::int32_t> bucket_rows(on, count, transposition_item);
    const buffer<std::uint16_t> bucket_columns(on, count, transposition_item);
    const buffer<Load> bucket_loads(on, count, transposition_item);
    const bucket_arrays<Load> arrays{cut, counts, bucket_rows.data(), bucket_columns.data(),
                                     bucket_loads.data()};
    const launch_scope launch(*on);
    const auto fill = fill_buckets<T, Load>;
    allow_shared(fill, sizeof(fill_memory));
    fill<<<static_cast<unsigned>(cut.blocks), bucket_threads, sizeof(fill_memory),
           launch.stream()>>>(a, values, arrays);
    launch.check_launch();
    const auto sort = sort_buckets<Load>;
    const std::size_t bytes = bucket_sort_bytes(cut, largest);
    allow_shared(sort, bytes);
    sort<<<static_cast<unsigned>(cut.buckets), bucket_threads, bytes, launch.stream()>>>(
        arrays, a.columns, offsets, rows, loads);
    launch.check_launch();
}

} // namespace

bucket_transposition::bucket_transposition(std::shared_ptr<device> on, const csr_pattern& a)
    : on_(std::move(on)), a_(a), cut_(make_column_buckets(a.columns, a.nonzeros)) {
    if (!cut_.possible()) return;
    counts_ = {on_, static_cast<std::size_t>(cut_.counts()), transposition_item};
    begins_ = {on_, static_cast<std::size_t>(cut_.counts()) + 1, transposition_item};
    scratch_ = {on_, scan_scratch_bytes_of<std::int32_t>, transposition_item};
}

void bucket_transposition::count(transpose_facts* facts, const unsigned* unless) {
    if (!cut_.possible()) return;
    const bucket_counts counts{counts_.data(), begins_.data()};
    {
        const launch_scope launch(*on_);
        count_buckets<<<static_cast<unsigned>(cut_.blocks), bucket_threads, 0, launch.stream()>>>(
            a_, cut_, counts, unless);
        launch.check_launch();
    }
    scan(*on_,
         bucket_sizes{counts_.data(), begins_.data(), static_cast<std::uint32_t>(cut_.counts()),
                      unless},
         cut_.counts(), scratch_.data());
    const launch_scope launch(*on_);
    find_largest_bucket<<<1, column_buckets::most_buckets, 0, launch.stream()>>>(
        cut_, counts, &facts->largest_bucket, unless);
    launch.check_launch();
}

bool bucket_transposition::fits(const transpose_facts& facts) const {
    return cut_.possible() && facts.largest_bucket <= column_buckets::capacity;
}

template <class T>
void bucket_transposition::run(const transpose_facts& facts, const transposed_arrays<T>& to) {
    const bucket_counts counts{counts_.data(), begins_.data()};
    if (to.places.narrow != nullptr)
        move_entries<void>(on_, a_, cut_, counts, facts.largest_bucket, nullptr, to.offsets,
                           to.indices, to.places.narrow);
    else
        move_entries(on_, a_, cut_, counts, facts.largest_bucket, to.values, to.offsets, to.indices,
                     to.transposed_values);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void bucket_transposition::run(const transpose_facts&, const transposed_arrays<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
