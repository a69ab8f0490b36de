#include <krylith/sparse/csr/giant_rows_host.hpp>

#include <krylith/matrix/types/longest_row.hpp>

namespace krylith::host {

giant_rows find_giant_rows(std::span<const std::int64_t> offsets,
                           std::span<const std::uint8_t> boundary) {
    giant_rows found;
    if (find_longest_row(offsets).nonzeros <= most_row_entries) return found; // as mostly
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
        const std::int64_t entries = offsets[row + 1] - offsets[row];
        if (entries <= most_row_entries) continue;
        found.rows.push_back(static_cast<std::int64_t>(row));
        found.first_piece.push_back(found.first_piece.back() +
                                    (entries + piece_entries - 1) / piece_entries);
        found.boundary.push_back(boundary.empty() ? std::uint8_t{0} : boundary[row]);
    }
    return found;
}

} // namespace krylith::host
