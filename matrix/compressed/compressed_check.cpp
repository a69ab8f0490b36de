#include <krylith/matrix/compressed/compressed_check.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {
namespace {

using std::to_string;

[[noreturn]] void refuse_arrays(const compressed_names& names, const std::string& what) {
    throw input_error(std::string(names.format) + ": " + what);
}

std::string element(const char* array, std::int64_t position) {
    return std::string(array) + "[" + to_string(position) + "]";
}

void check_sizes(const compressed_names& names, std::int64_t major_size, std::int64_t across,
                 std::span<const std::int64_t> offsets, std::size_t indices, std::size_t values,
                 const compressed_place& place) {
    if (major_size < 0) {
        refuse_arrays(names, names.major_size + (" is " + to_string(major_size)) +
                                 ", allowed are 0 and more");
    }
    check_index_size(std::string(names.format) + ": " + names.across, across);
    // This compares without major_size + 1, which overflows for the largest number.
    if (offsets.empty() || static_cast<std::int64_t>(offsets.size() - 1) != major_size) {
        refuse_arrays(names, names.offsets + (" has " + to_string(offsets.size())) +
                                 " entries, allowed is " + names.major_size + " + 1, with " +
                                 names.major_size + " = " + to_string(major_size));
    }
    if (values != indices) {
        refuse_arrays(names, "values has " + to_string(values) +
                                 " entries, allowed is as many as " + names.indices + ": " +
                                 to_string(indices));
    }
    check_ends(names, major_size, offsets.front(), offsets.back(),
               static_cast<std::int64_t>(indices), place);
}

void check_indices(const compressed_names& names, std::int64_t across,
                   std::span<const std::int64_t> offsets, std::span<const std::int32_t> indices,
                   const compressed_place& place) {
    const auto nnz = static_cast<std::int64_t>(indices.size());
    const std::int32_t* const index_of = indices.data();
    const auto is_bad = [across](std::int32_t index) { return index < 0 || index >= across; };
    int bad = 0; // the usual case is that of no bad one, which needs no place
#pragma omp parallel for schedule(static) reduction(| : bad)
    for (std::int64_t k = 0; k < nnz; ++k) bad |= is_bad(index_of[k]) ? 1 : 0;
    if (bad != 0) {
        const std::int64_t first_bad = std::ranges::find_if(indices, is_bad) - indices.begin();
        const auto major =
            std::upper_bound(offsets.begin(), offsets.end(), place.entry + first_bad) -
            offsets.begin() - 1;
        refuse_arrays(names, element(names.indices, place.entry + first_bad) + ", in " +
                                 names.major + " " + to_string(place.major + major) + ", is " +
                                 to_string(indices[as_size(first_bad)]) +
                                 ", allowed are 0 and more, below " + to_string(across));
    }
}

} // namespace

void check_ends(const compressed_names& names, std::int64_t major_size, std::int64_t first,
                std::int64_t last, std::int64_t entries, const compressed_place& place) {
    if (first != place.entry) {
        refuse_arrays(names, element(names.offsets, place.major) + " is " + to_string(first) +
                                 ", allowed is " + to_string(place.entry));
    }
    if (last - place.entry != entries) {
        refuse_arrays(
            names, element(names.offsets, place.major + major_size) + " is " + to_string(last) +
                       ", allowed is the number of entries: " + to_string(place.entry + entries));
    }
}

longest_row check_offsets(const compressed_names& names, std::span<const std::int64_t> offsets,
                          const compressed_place& place) {
    const auto major_size = static_cast<std::int64_t>(offsets.size()) - 1;
    const auto [first_bad, longest] = scan_offsets(offsets);
    if (first_bad < major_size) {
        refuse_arrays(names, names.major + (" " + to_string(place.major + first_bad)) +
                                 " starts at " + to_string(offsets[as_size(first_bad)]) +
                                 " and ends at " + to_string(offsets[as_size(first_bad + 1)]) +
                                 ": allowed are " + names.offsets + " that don't descend");
    }
    return longest;
}

longest_row check_compressed(const compressed_names& names, std::int64_t major_size,
                             std::int64_t across, std::span<const std::int64_t> offsets,
                             std::span<const std::int32_t> indices, std::size_t values,
                             const compressed_place& place) {
    check_sizes(names, major_size, across, offsets, indices.size(), values, place);
    const longest_row longest = check_offsets(names, offsets, place);
    check_indices(names, across, offsets, indices, place);
    return longest;
}

} // namespace krylith
