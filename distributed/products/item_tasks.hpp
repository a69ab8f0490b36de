// What products do with numbered items, each on its own: one definition for host and CUDA.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/listed_items.hpp>
#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/distributed/source/local_columns.hpp>

namespace krylith {

/// Writes the local numbers of global columns, perhaps in their place.
template <class V>
struct number_locally {
    column_numbers numbers;
    const V* global;
    std::int32_t* local;
    KRYLITH_HD void operator()(std::int64_t k) const { local[k] = numbers.local(global[k]); }
};

/// For a matrix whose columns 32 bits number.
struct number_globally {
    column_numbers numbers;
    const std::int32_t* local;
    std::int32_t* global;
    KRYLITH_HD void operator()(std::int64_t k) const {
        global[k] = static_cast<std::int32_t>(numbers.global(local[k]));
    }
};

/// Lists the global columns that are not owned, each as often as it stands there, in any order;
/// numbers[0] gets what is not 0 where a column is not of [0, all), numbers[1] how many are listed.
template <class V>
struct find_references {
    const V* columns;
    row_range owned;
    std::int64_t all;
    std::uint32_t* numbers;
    std::int64_t* listed; ///< room for all
    KRYLITH_HD void operator()(std::int64_t k) const {
        const std::int64_t column = columns[k];
        if (column >= owned.begin && column < owned.end) return;
        if (column < 0 || column >= all)
            raise_shared(numbers, 1u);
        else
            listed[add_shared(numbers + 1, 1u)] = column;
    }
};

/// Counts offsets of either width from another place.
template <class Offset>
struct shift_offsets {
    const Offset* from;
    std::int64_t by;
    std::int64_t* to;
    KRYLITH_HD void operator()(std::int64_t i) const { to[i] = from[i] + by; }
};

/// Takes columns of 64 bits; those that 32 don't number become -1.
struct narrow_columns {
    const std::int64_t* from;
    std::int32_t* to;
    KRYLITH_HD void operator()(std::int64_t k) const {
        const std::int64_t column = from[k];
        to[k] =
            column == static_cast<std::int32_t>(column) ? static_cast<std::int32_t>(column) : -1;
    }
};

/// Copies the lengths of listed rows.
struct take_lengths {
    const std::int64_t* offsets;
    listed_items<std::int64_t> rows;
    std::int64_t* lengths;
    KRYLITH_HD void operator()(std::int64_t i) const {
        lengths[i] = offsets[rows[i] + 1] - offsets[rows[i]];
    }
};

/// Adds the lengths of packed rows to those of the rows that they are pieces of. What was there
/// before becomes jump[i]. No row may stand twice in `rows`.
struct add_lengths {
    const std::int64_t* packed;
    listed_items<std::int64_t> rows;
    std::int64_t* lengths;
    std::int64_t* jump;
    KRYLITH_HD void operator()(std::int64_t i) const {
        std::int64_t& length = lengths[rows[i]];
        jump[i] = length;
        length += packed[i + 1] - packed[i];
    }
};

/// Turns places within rows, as add_lengths left them, into ways from packed entries to the
/// matrix.
struct jump_into_rows {
    const std::int64_t* packed;
    listed_items<std::int64_t> rows;
    const std::int64_t* offsets;
    std::int64_t* jump;
    KRYLITH_HD void operator()(std::int64_t i) const { jump[i] += offsets[rows[i]] - packed[i]; }
};

/// Finds the ways from packed entries to where they are in listed rows.
struct jump_from_rows {
    const std::int64_t* packed;
    listed_items<std::int64_t> rows;
    const std::int64_t* offsets;
    std::int64_t* jump;
    KRYLITH_HD void operator()(std::int64_t i) const { jump[i] = offsets[rows[i]] - packed[i]; }
};

/// The rows of an identity matrix.
template <class T>
struct identity_rows {
    std::int64_t* offsets;
    std::int32_t* columns;
    T* values;
    std::int64_t rows;
    KRYLITH_HD void operator()(std::int64_t i) const {
        offsets[i] = i;
        if (i == rows) return;
        columns[i] = static_cast<std::int32_t>(i);
        values[i] = 1;
    }
};

} // namespace krylith
