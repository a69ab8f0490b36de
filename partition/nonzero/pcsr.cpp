#include <krylith/partition/nonzero/pcsr.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

using std::to_string;

constexpr const char* name_of(major_order order) {
    return order == major_order::row ? "pcsr" : "pcsc";
}

constexpr const char* major_of(major_order order) {
    return order == major_order::row ? "row" : "column";
}

void check_sizes(const char* who, std::int64_t major_size, std::int64_t across, std::size_t offsets,
                 std::size_t indices, std::size_t values) {
    if (major_size < 0 || offsets != as_size(major_size) + 1)
        throw usage_error(std::string(who) + ": there are " + to_string(offsets) + " offsets for " +
                          to_string(major_size) + " lines, must be one more");
    if (across < 0)
        throw usage_error(std::string(who) + ": lines are " + to_string(across) +
                          " long, must be 0 or more");
    if (values != 0 && values != indices)
        throw usage_error(std::string(who) + ": there are " + to_string(values) + " values for " +
                          to_string(indices) + " indices, must be as many or none");
}

template <class T, major_order Major>
compressed_parts<T, Major> make(std::int64_t major_size, std::int64_t across,
                                std::span<const std::int64_t> offsets,
                                std::span<const std::int32_t> indices, std::span<const T> values,
                                const nonzero_partition& entries) {
    check_sizes(name_of(Major), major_size, across, offsets.size(), indices.size(), values.size());
    check(entries, static_cast<std::int64_t>(indices.size()));
    compressed_parts<T, Major> parts{major_size, across, {}, {}, indices, values};
    parts.major_ranges = make_major_ranges(offsets, entries);
    parts.offsets = part_offsets(parts.major_ranges, offsets);
    return parts;
}

} // namespace

std::vector<std::vector<std::int64_t>> part_offsets(std::span<const major_range> major_ranges,
                                                    std::span<const std::int64_t> offsets) {
    const auto parts = static_cast<std::int64_t>(major_ranges.size());
    std::vector<std::vector<std::int64_t>> result(major_ranges.size());
    for (std::size_t k = 0; k < major_ranges.size(); ++k)
        result[k].reserve(as_size(major_ranges[k].major_size()) + 1); // may throw, so not by a team
    constexpr std::size_t worth_a_team = 1 << 14;
#pragma omp parallel if (offsets.size() > worth_a_team)
    {
#pragma omp for schedule(dynamic, 1) // fresh pages are the longest part of it
        for (std::int64_t k = 0; k < parts; ++k)
            result[as_size(k)].resize(as_size(major_ranges[as_size(k)].major_size()) + 1);
        for (std::int64_t k = 0; k < parts; ++k) {
            const major_range majors = major_ranges[as_size(k)];
            const std::int64_t* const from = offsets.data() + majors.start_major;
            std::int64_t* const to = result[as_size(k)].data();
#pragma omp for schedule(static) nowait // parts may be of very different numbers of major indices
            for (std::int64_t i = 0; i <= majors.major_size(); ++i)
                to[i] = part_offset(from[i], majors.start_idx, majors.end_idx);
        }
    }
    return result;
}

template <class T>
pcsr<T> make_pcsr(std::int64_t rows, std::int64_t columns,
                  std::span<const std::int64_t> row_offsets,
                  std::span<const std::int32_t> column_indices, std::span<const T> values,
                  const nonzero_partition& entries) {
    return make<T, major_order::row>(rows, columns, row_offsets, column_indices, values, entries);
}

template <class T>
pcsc<T> make_pcsc(std::int64_t rows, std::int64_t columns,
                  std::span<const std::int64_t> column_offsets,
                  std::span<const std::int32_t> row_indices, std::span<const T> values,
                  const nonzero_partition& entries) {
    return make<T, major_order::column>(columns, rows, column_offsets, row_indices, values,
                                        entries);
}

template <class T, major_order Major>
void check(const compressed_parts<T, Major>& parts, std::span<const std::int64_t> offsets) {
    const std::string who = name_of(Major);
    check_sizes(name_of(Major), parts.major_size, parts.across, offsets.size(),
                parts.indices.size(), parts.values.size());
    if (offsets.front() != 0 || offsets.back() != static_cast<std::int64_t>(parts.indices.size()))
        throw usage_error(who + ": offsets runs from " + to_string(offsets.front()) + " to " +
                          to_string(offsets.back()) + ", must run from 0 to the number of " +
                          "indices, " + to_string(parts.indices.size()));
    check(parts.major_ranges, offsets, major_of(Major));
    if (parts.offsets.size() != parts.major_ranges.size())
        throw usage_error(who + ": there are " + to_string(parts.offsets.size()) +
                          " pointer arrays for " + to_string(parts.major_ranges.size()) + " parts");
    for (std::size_t k = 0; k < parts.major_ranges.size(); ++k) {
        const major_range& majors = parts.major_ranges[k];
        const std::vector<std::int64_t>& local = parts.offsets[k];
        const std::string part = who + ": part " + to_string(k);
        if (local.size() != as_size(majors.major_size()) + 1)
            throw usage_error(part + " has " + to_string(local.size()) + " offsets, must have " +
                              to_string(majors.major_size() + 1));
        for (std::size_t i = 0; i < local.size(); ++i) {
            const std::int64_t global = offsets[as_size(majors.start_major) + i];
            const std::int64_t right =
                std::clamp(global, majors.start_idx, majors.end_idx) - majors.start_idx;
            if (local[i] != right)
                throw usage_error(part + " has offset " + to_string(local[i]) + " at " +
                                  to_string(i) + ", must have " + to_string(right));
        }
    }
}

template pcsr<double> make_pcsr(std::int64_t, std::int64_t, std::span<const std::int64_t>,
                                std::span<const std::int32_t>, std::span<const double>,
                                const nonzero_partition&);
template pcsr<float> make_pcsr(std::int64_t, std::int64_t, std::span<const std::int64_t>,
                               std::span<const std::int32_t>, std::span<const float>,
                               const nonzero_partition&);
template pcsc<double> make_pcsc(std::int64_t, std::int64_t, std::span<const std::int64_t>,
                                std::span<const std::int32_t>, std::span<const double>,
                                const nonzero_partition&);
template pcsc<float> make_pcsc(std::int64_t, std::int64_t, std::span<const std::int64_t>,
                               std::span<const std::int32_t>, std::span<const float>,
                               const nonzero_partition&);
template void check(const pcsr<double>&, std::span<const std::int64_t>);
template void check(const pcsr<float>&, std::span<const std::int64_t>);
template void check(const pcsc<double>&, std::span<const std::int64_t>);
template void check(const pcsc<float>&, std::span<const std::int64_t>);

} // namespace krylith
