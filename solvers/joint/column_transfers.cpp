#include <krylith/solvers/joint/column_transfers.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <krylith/device/language/instances.hpp>
#include <krylith/device/transport/transfers.hpp>

namespace krylith {

namespace {

/// The columns of a caller's, from the first row of a rank on.
template <class T>
struct caller_columns {
    T* first;
    std::size_t rows;  ///< distance from one column to the next
    std::size_t count; ///< columns that are there
    std::size_t k;     ///< columns of the vector

    /// Calls body(place in the piece, entry of the caller's, or null where there is none) for the
    /// entries of a piece that begins at byte `at`.
    template <class Body>
    void for_entries(std::size_t at, std::size_t bytes, const Body& body) const {
        std::size_t row = at / sizeof(T) / k;
        std::size_t j = at / sizeof(T) % k;
        for (std::size_t i = 0; i < bytes / sizeof(T); ++i) {
            body(i, j < count ? first + j * rows + row : nullptr);
            if (++j == k) {
                j = 0;
                ++row;
            }
        }
    }
};

template <class T>
caller_columns<T> columns_from(std::span<T> columns, std::int64_t first_row, std::size_t rows,
                               int k) {
    return {columns.data() + first_row, rows, columns.size() / rows, static_cast<std::size_t>(k)};
}

} // namespace

template <class T>
void upload_columns(vector<T>& to, int k, std::span<const T> columns) {
    const layout& layout = *to.layout();
    const auto rows = static_cast<std::size_t>(to.size() / k);
    std::vector<upload_request> parts;
    for (const int rank : layout.comm.local()) {
        const row_range owned = layout.rows.owned(rank);
        if (owned.size() == 0) continue;
        const auto from = columns_from(columns, owned.begin / k, rows, k);
        parts.push_back({&layout.comm[rank], to.data(rank), columns.data(),
                         static_cast<std::size_t>(owned.size()) * sizeof(T)});
        parts.back().write = [from](std::byte* piece, std::size_t at, std::size_t bytes) {
            T* const entries = reinterpret_cast<T*>(piece);
            from.for_entries(at, bytes, [entries](std::size_t i, const T* entry) {
                entries[i] = entry != nullptr ? *entry : T(0);
            });
        };
    }
    upload_together(parts);
}

template <class T>
void download_columns(const vector<T>& from, int k, std::span<T> columns) {
    const layout& layout = *from.layout();
    const auto rows = static_cast<std::size_t>(from.size() / k);
    std::vector<download_request> parts;
    for (const int rank : layout.comm.local()) {
        const row_range owned = layout.rows.owned(rank);
        if (owned.size() == 0) continue;
        const auto to = columns_from(columns, owned.begin / k, rows, k);
        parts.push_back({&layout.comm[rank], columns.data(), from.data(rank),
                         static_cast<std::size_t>(owned.size()) * sizeof(T)});
        parts.back().take = [to](const std::byte* piece, std::size_t at, std::size_t bytes) {
            const T* const entries = reinterpret_cast<const T*>(piece);
            to.for_entries(at, bytes, [entries](std::size_t i, T* entry) {
                if (entry != nullptr) *entry = entries[i];
            });
        };
    }
    download_together(parts);
}

#define KRYLITH_INSTANTIATE(T) template struct instances<upload_columns<T>, download_columns<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
