#include <krylith/partition/nonzero/joined_ranges.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

using std::to_string;

[[noreturn]] void refuse(std::size_t part, const std::string& what) {
    throw usage_error("join: part " + to_string(part) + " " + what);
}

void require_size(std::size_t part, const char* what, std::size_t size, std::size_t wanted) {
    if (size != wanted)
        refuse(part, "has " + to_string(size) + " " + what + ", must have " + to_string(wanted));
}

/// A line that goes on has entries in the part, and the part before ends with it.
struct line_ends {
    bool first_has_entries = false;
    bool last_has_entries = false;
};

line_ends check_pointers(std::size_t part, const line_share& share,
                         std::span<const std::int64_t> offsets) {
    require_size(part, "offsets", offsets.size(), as_size(share.lines()) + 1);
    if (offsets.front() != 0)
        refuse(part, "has offset " + to_string(offsets.front()) + " at 0, must have 0");
    for (std::size_t i = 1; i < offsets.size(); ++i)
        if (offsets[i] < offsets[i - 1])
            refuse(part, "has offset " + to_string(offsets[i]) + " at " + to_string(i) +
                             ", must not be below that before it, " + to_string(offsets[i - 1]));
    if (offsets.back() != share.entries())
        refuse(part, "has offsets to " + to_string(offsets.back()) +
                         ", must be its number of entries, " + to_string(share.entries()));
    if (offsets.size() == 1) return {};
    return {offsets[1] > 0, offsets[offsets.size() - 2] < offsets.back()};
}

template <class From, class To>
void append(const From& from, To& to) {
    to.insert(to.end(), from.begin(), from.end());
}

} // namespace

template <class T, major_order Major>
compressed_arrays<T> join(std::span<const compressed_piece<T, Major>> pieces, std::int64_t lines) {
    std::vector<line_share> shares;
    for (const auto& piece : pieces) shares.push_back(piece.share);
    const std::int64_t entries = shares.empty() ? 0 : shares.back().end_idx;
    check_chain(shares, lines, entries, Major == major_order::row ? "row" : "column");
    compressed_arrays<T> result;
    result.offsets.reserve(as_size(lines) + 1);
    result.indices.reserve(as_size(entries));
    result.values.reserve(as_size(entries));
    const bool pattern =
        std::ranges::all_of(pieces, [](const auto& piece) { return piece.values.empty(); });
    bool before_ends_open = false; // the last line with entries is the last of its part
    for (std::size_t k = 0; k < pieces.size(); ++k) {
        const auto& piece = pieces[k];
        const line_ends ends = check_pointers(k, piece.share, piece.offsets);
        require_size(k, "indices", piece.indices.size(), as_size(piece.share.entries()));
        if (!pattern)
            require_size(k, "values", piece.values.size(), as_size(piece.share.entries()));
        if (piece.share.start_flag && !(ends.first_has_entries && before_ends_open))
            refuse(k, "has start_flag, but its first line has no entries here or at the end of "
                      "the part before");
        const std::size_t skipped = piece.share.start_flag ? 1 : 0;
        for (const std::int64_t end : piece.offsets.subspan(1 + skipped))
            result.offsets.push_back(piece.share.start_idx + end);
        // The part's first offset of an own line closes the line that goes on.
        if (skipped == 1)
            result.offsets[as_size(piece.share.start_line) + 1] =
                piece.share.start_idx + piece.offsets[1];
        append(piece.indices, result.indices);
        append(piece.values, result.values);
        if (piece.share.entries() > 0 || piece.share.lines() > 0)
            before_ends_open = ends.last_has_entries;
    }
    return result;
}

template <class T>
coo_arrays<T> join(std::span<const pcoo_piece<T>> pieces) {
    const bool pattern =
        std::ranges::all_of(pieces, [](const auto& piece) { return piece.values.empty(); });
    coo_arrays<T> result;
    std::int64_t next = 0;
    for (std::size_t k = 0; k < pieces.size(); ++k) {
        const pcoo_piece<T>& piece = pieces[k];
        if (piece.share.start_idx != next || piece.share.end_idx < next)
            refuse(k, "has the entries from " + to_string(piece.share.start_idx) + " to below " +
                          to_string(piece.share.end_idx) + ", must have those from " +
                          to_string(next) + " on");
        next = piece.share.end_idx;
        const std::size_t entries = as_size(piece.share.entries());
        require_size(k, "row indices", piece.row_indices.size(), entries);
        require_size(k, "column indices", piece.column_indices.size(), entries);
        if (!pattern) require_size(k, "values", piece.values.size(), entries);
        append(piece.row_indices, result.row_indices);
        append(piece.column_indices, result.column_indices);
        append(piece.values, result.values);
    }
    return result;
}

template compressed_arrays<double> join(std::span<const pcsr_piece<double>>, std::int64_t);
template compressed_arrays<float> join(std::span<const pcsr_piece<float>>, std::int64_t);
template compressed_arrays<double> join(std::span<const pcsc_piece<double>>, std::int64_t);
template compressed_arrays<float> join(std::span<const pcsc_piece<float>>, std::int64_t);
template coo_arrays<double> join(std::span<const pcoo_piece<double>>);
template coo_arrays<float> join(std::span<const pcoo_piece<float>>);

} // namespace krylith
