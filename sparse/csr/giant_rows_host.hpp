// Rows of a CSR block that are too long for one thread: the whole team multiplies them, before it
// multiplies the others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/host/host_team.hpp>
#include <krylith/sparse/csr/csr_rows_host.hpp>

namespace krylith::host {

/// The most entries of a row that one thread multiplies.
inline constexpr std::int64_t most_row_entries = 1 << 16;
/// Longer ones are sums of the products of so many entries: the same on any team.
inline constexpr std::int64_t piece_entries = 1 << 13;

struct giant_rows {
    std::vector<std::int64_t> rows;           ///< ascending
    std::vector<std::int64_t> first_piece{0}; ///< [rows + 1]
    std::vector<std::uint8_t> boundary;       ///< [rows] not 0: of the boundary
};

/// `boundary` is empty or has an entry for each row: not 0 where the row is of the boundary.
[[nodiscard]] giant_rows find_giant_rows(std::span<const std::int64_t> offsets,
                                         std::span<const std::uint8_t> boundary);

/// The same as plain pointers, for tasks.
template <class T>
struct giant_row_arrays {
    const std::int64_t* rows;
    const std::int64_t* first_piece;
    const std::uint8_t* boundary;
    std::int64_t count;
    T* pieces; ///< [first_piece[count]]

    /// Whether there are any of the interior, or of the boundary.
    [[nodiscard]] bool any(bool of_boundary) const {
        return std::any_of(boundary, boundary + count,
                           [=](std::uint8_t b) { return (b != 0) == of_boundary; });
    }

    /// Computes the products of the pieces of these.
    template <class Offset>
    void multiply(const csr_arrays<T, Offset>& a, const T* x, bool of_boundary, int threads) const {
        if (!any(of_boundary)) return;
        const std::int64_t all = first_piece[count];
        in_team(std::min<std::int64_t>(threads, all), [&](std::int64_t thread, std::int64_t team) {
            for (std::int64_t p = all * thread / team; p < all * (thread + 1) / team; ++p) {
                const std::int64_t k =
                    std::upper_bound(first_piece, first_piece + count, p) - first_piece - 1;
                if ((boundary[k] != 0) != of_boundary) continue;
                const Offset first =
                    a.offsets[rows[k]] + static_cast<Offset>((p - first_piece[k]) * piece_entries);
                pieces[p] = row_product(
                    a.columns + first, a.values + first, x,
                    std::min<std::int64_t>(piece_entries, a.offsets[rows[k] + 1] - first));
            }
        });
    }

    /// Calls multiply_others(y, begin, end) for the rows between giant ones, and finishes these.
    template <class Multiply>
    void multiply_between(T* y, T alpha, T beta, std::int64_t begin, std::int64_t end,
                          const Multiply& multiply_others) const {
        const std::int64_t first = begin;
        for (const std::int64_t* giant = std::lower_bound(rows, rows + count, begin); begin < end;
             ++giant) {
            const bool there = giant != rows + count && *giant < end;
            const std::int64_t stop = there ? *giant : end;
            if (begin < stop) multiply_others(y + (begin - first), begin, stop);
            begin = stop;
            if (!there) return;
            T sum{};
            for (std::int64_t p = first_piece[giant - rows]; p < first_piece[giant - rows + 1]; ++p)
                sum += pieces[p];
            T& to = y[begin++ - first];
            to = beta == T{0} ? alpha * sum : plus_product(alpha * sum, beta, to);
        }
    }
};

} // namespace krylith::host
