#include <krylith/sparse/sell/sell_columns.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

constexpr std::int32_t widest_span = std::numeric_limits<std::uint16_t>::max();

/// The rows of a slice, by lane; empty where there is none.
struct slice_pattern {
    std::array<std::span<const std::int32_t>, slice_rows> columns;
    std::array<std::int32_t, slice_rows> row{};
    std::size_t longest = 0; ///< the first lane that has as many entries as any

    slice_pattern(const sell_layout& layout, std::span<const std::int64_t> offsets,
                  std::span<const std::int32_t> indices, std::int64_t slice) {
        for (std::size_t lane = 0; lane < columns.size(); ++lane) {
            const auto place = slice * slice_rows + static_cast<std::int64_t>(lane);
            const std::int64_t r = layout.row_at(place);
            if (r < 0) continue;
            row[lane] = static_cast<std::int32_t>(r);
            const std::int64_t begin = offsets[as_size(r)];
            columns[lane] = indices.subspan(as_size(begin - offsets.front()),
                                            as_size(offsets[as_size(r) + 1] - begin));
            if (columns[lane].size() > columns[longest].size()) longest = lane;
        }
    }

    [[nodiscard]] std::size_t length() const { return columns[longest].size(); }

    [[nodiscard]] std::int32_t diagonal(std::size_t lane, std::size_t k) const {
        return columns[lane][k] - row[lane];
    }

    /// Calls found(k) for each entry k of the lane with its slice-column: the first one on the same
    /// diagonal after that of the entry before. Returns false where there is none.
    template <class Found>
    [[nodiscard]] bool align(std::size_t lane, Found found) const {
        std::size_t k = 0;
        for (std::size_t j = 0; j < columns[lane].size(); ++j) {
            while (k < length() && diagonal(longest, k) != diagonal(lane, j)) ++k;
            if (k == length()) return false;
            found(k++);
        }
        return true;
    }

    [[nodiscard]] bool is_diagonal() const {
        for (std::size_t lane = 0; lane < columns.size(); ++lane)
            if (!align(lane, [](std::size_t) {})) return false;
        return true;
    }

    struct extent {
        std::int32_t low = std::numeric_limits<std::int32_t>::max();
        std::int32_t high = 0;
        std::uint32_t lanes = 0;
    };

    /// The extent of the k-th entries, which some lanes or none have.
    [[nodiscard]] extent extent_of(std::size_t k) const {
        extent e;
        for (std::size_t lane = 0; lane < columns.size(); ++lane) {
            if (k >= columns[lane].size()) continue;
            e.low = std::min(e.low, columns[lane][k]);
            e.high = std::max(e.high, columns[lane][k]);
            e.lanes |= std::uint32_t{1} << lane;
        }
        return e;
    }

    [[nodiscard]] bool is_narrow() const {
        for (std::size_t k = 0; k < length(); ++k) {
            const extent e = extent_of(k);
            if (e.high - e.low > widest_span) return false;
        }
        return true;
    }

    [[nodiscard]] bool is_triples() const {
        for (const auto& row_columns : columns) {
            if (row_columns.size() % 3 != 0) return false;
            for (std::size_t k = 0; k < row_columns.size(); k += 3)
                for (std::int32_t j = 1; j < 3; ++j)
                    if (row_columns[k + as_size(j)] != std::int64_t{row_columns[k]} + j)
                        return false;
        }
        for (std::size_t k = 0; k < length(); k += 3) {
            const extent e = extent_of(k);
            if (e.high - e.low > widest_span) return false;
        }
        return true;
    }

    [[nodiscard]] column_code code(bool with_triples) const {
        if (is_diagonal()) return column_code::diagonal;
        if (with_triples && is_triples()) return column_code::triples;
        return is_narrow() ? column_code::narrow : column_code::wide;
    }

    void store_diagonal(slice_step* steps) const {
        for (std::size_t k = 0; k < length(); ++k) steps[k] = {diagonal(longest, k), 0};
        for (std::size_t lane = 0; lane < columns.size(); ++lane)
            (void)align(lane, [&](std::size_t k) { steps[k].lanes |= std::uint32_t{1} << lane; });
    }

    /// Stores the columns of every `group`-th entry: 1, or 3 for triples.
    void store_offsets(slice_step* steps, std::byte* to, std::size_t group) const {
        for (std::size_t k = 0; k < length(); k += group) {
            const extent e = extent_of(k);
            steps[k / group] = {e.low, e.lanes};
            std::array<std::uint16_t, slice_rows> offset{};
            for (std::size_t lane = 0; lane < columns.size(); ++lane)
                if (k < columns[lane].size())
                    offset[lane] = static_cast<std::uint16_t>(columns[lane][k] - e.low);
            std::memcpy(to + k / group * sizeof offset, offset.data(), sizeof offset);
        }
    }

    void store_wide(std::byte* to) const {
        for (std::size_t k = 0; k < length(); ++k) {
            std::array<std::int32_t, slice_rows> column{};
            for (std::size_t lane = 0; lane < columns.size(); ++lane)
                column[lane] = k < columns[lane].size() ? columns[lane][k] : -1;
            std::memcpy(to + k * sizeof column, column.data(), sizeof column);
        }
    }
};

std::int64_t chunks_after(std::span<const slice_head> heads) {
    if (heads.empty()) return 0;
    return std::int64_t{heads.back().columns} +
           chunks_of(heads.back().code(), heads.back().length());
}

void check_fits(const char* what, std::int64_t count,
                std::int64_t most = std::numeric_limits<std::uint32_t>::max()) {
    if (count > most)
        throw input_error("format sell: " + std::string(what) + " of a device are " +
                          std::to_string(count) + ", allowed are 0 to " + std::to_string(most));
}

} // namespace

std::vector<slice_head> choose_column_codes(const sell_layout& layout,
                                            std::span<const std::int64_t> offsets,
                                            std::span<const std::int32_t> indices) {
    check_fits("slice-columns (32 entries each)", layout.entries() / slice_rows);
    const std::int64_t slices = layout.slices();
    std::vector<slice_head> heads(as_size(slices));
    const auto choose = [&](bool with_triples) {
        std::int64_t triples = 0; // slice-columns
#pragma omp parallel for reduction(+ : triples)
        for (std::int64_t s = 0; s < slices; ++s) {
            const slice_pattern slice(layout, offsets, indices, s);
            const auto first =
                static_cast<std::uint32_t>(layout.slice_offsets[as_size(s)] / slice_rows);
            const auto length = static_cast<std::int32_t>(slice.length());
            const column_code code = slice.code(with_triples);
            heads[as_size(s)] = {first, 0, slice_shape(length, code), first};
            if (code == column_code::triples) triples += length;
        }
        return triples;
    };
    const std::int64_t triples = choose(true);
    if (triples != 0 && !worth_triples(triples, layout.entries() / slice_rows)) choose(false);
    std::int64_t stored = 0;
    for (std::int64_t s = 0; s < slices; ++s) {
        const std::int64_t entries =
            layout.slice_offsets[as_size(s) + 1] - layout.slice_offsets[as_size(s)];
        check_fits("the entries of a row", entries / slice_rows, longest_slice);
        slice_head& head = heads[as_size(s)];
        head.columns = static_cast<std::uint32_t>(stored);
        stored += chunks_of(head.code(), head.length());
        check_fits("chunks of stored columns (64 bytes each)", stored);
    }
    return heads;
}

sell_columns make_sell_columns(const sell_layout& layout, std::span<const std::int64_t> offsets,
                               std::span<const std::int32_t> indices) {
    sell_columns result;
    result.heads = choose_column_codes(layout, offsets, indices);
    if (std::any_of(result.heads.begin(), result.heads.end(), [](const slice_head& h) {
            return h.length() > 0 && h.code() != column_code::wide;
        }))
        result.steps.resize(as_size(layout.entries() / slice_rows));
    result.stored.resize(as_size(chunks_after(result.heads) * column_chunk));
    const std::int64_t slices = layout.slices();
#pragma omp parallel for
    for (std::int64_t s = 0; s < slices; ++s) {
        const slice_pattern slice(layout, offsets, indices, s);
        const slice_head& head = result.heads[as_size(s)];
        slice_step* const steps = // there are none if all slices are wide
            result.steps.empty() ? nullptr : result.steps.data() + head.first;
        std::byte* const to = result.stored.data() + std::int64_t{head.columns} * column_chunk;
        switch (head.code()) {
        case column_code::diagonal: slice.store_diagonal(steps); break;
        case column_code::triples: slice.store_offsets(steps, to, 3); break;
        case column_code::narrow: slice.store_offsets(steps, to, 1); break;
        case column_code::wide: slice.store_wide(to); break;
        }
    }
    return result;
}

std::int64_t sell_bytes(const sell_layout& layout, std::span<const slice_head> heads,
                        std::int64_t value_bytes) {
    std::int64_t steps = 0;
    for (const slice_head& head : heads) steps += steps_of(head.code(), head.length());
    return layout.entries() * value_bytes + steps * static_cast<std::int64_t>(sizeof(slice_step)) +
           chunks_after(heads) * column_chunk +
           static_cast<std::int64_t>(heads.size() * sizeof(slice_head) +
                                     layout.rows.size() * sizeof(std::int32_t));
}

} // namespace krylith
