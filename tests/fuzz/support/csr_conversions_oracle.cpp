#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/coo_assembly.hpp>
#include <krylith/matrix/kcsr/image.hpp>
#include <krylith/matrix/kcsr/serialise.hpp>
#include <krylith/tests/fuzz/support/csr_oracle.hpp>
#include <krylith/tests/fuzz/support/require.hpp>

namespace krylith::fuzz {
namespace {

/// The sum at each place; entries at the same place are added in order.
using places = std::map<std::pair<std::int64_t, std::int64_t>, double>;

places places_of(const csr_view<double>& a) {
    places sums;
    for (std::int64_t row = 0; row < a.rows; ++row) {
        for (auto k = a.row_offsets[static_cast<std::size_t>(row)];
             k < a.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
            const auto place = static_cast<std::size_t>(k);
            sums[{row, a.column_indices[place]}] += a.values[place];
        }
    }
    return sums;
}

places mirrored(const places& of) {
    places result;
    for (const auto& [place, value] : of) result[{place.second, place.first}] = value;
    return result;
}

void require_same_matrix(const csr_view<double>& a, const csr_view<double>& b, const char* what) {
    const auto equal = [](const auto& x, const auto& y) {
        return x.size() == y.size() &&
               (x.empty() || std::memcmp(x.data(), y.data(), x.size_bytes()) == 0);
    };
    require(a.rows == b.rows && a.columns == b.columns && equal(a.row_offsets, b.row_offsets) &&
                equal(a.column_indices, b.column_indices) && equal(a.values, b.values),
            what);
}

void require_file(const csr_view<double>& matrix) {
    std::vector<std::byte> bytes;
    binary::serialise<double>(matrix, [&](std::span<const std::byte> piece) {
        bytes.insert(bytes.end(), piece.begin(), piece.end());
    });
    std::vector<std::uint64_t> aligned(bytes.size() / 8 + 1);
    std::memcpy(aligned.data(), bytes.data(), bytes.size());
    const auto file = std::as_bytes(std::span(aligned)).first(bytes.size());
    require_same_matrix(binary::open_image(file, "fuzz.kcsr", {}).view<double>(), matrix,
                        "a .kcsr file gives the same matrix");
}

} // namespace

void require_conversions(const csr_view<double>& matrix) {
    const places expected = places_of(matrix);
    const auto transposed = transpose(matrix);
    validate(transposed);
    require(places_of(transposed) == mirrored(expected), "transposing mirrors the places");
    const auto by_columns = to_csc(matrix);
    validate(by_columns);
    require(places_of({by_columns.columns, by_columns.rows, by_columns.column_offsets,
                       by_columns.row_indices, by_columns.values}) == mirrored(expected),
            "CSC has the same places");
    const auto sorted = to_csr(by_columns);
    require_same_matrix(sorted, transpose(transposed), "back from CSC is transposing twice");
    require(places_of(sorted) == expected, "back from CSC nothing is lost");

    const auto entries = to_coo(matrix);
    const auto summed = to_csr(entries);
    validate(summed);
    require(canonical(summed), "to_csr gives ascending columns");
    require(places_of(summed) == expected, "to_csr sums duplicates");
    const coo_assembly assembly(entries.rows, entries.columns,
                                std::span<const std::int32_t>(entries.row_indices),
                                std::span<const std::int32_t>(entries.column_indices));
    require_same_matrix(assembly.matrix<double>(entries.values), summed, "an assembly is to_csr");
    require_file(matrix);
}

} // namespace krylith::fuzz
