#include <krylith/matrix/kcsr/serialise.hpp>

#include <array>
#include <cstdint>
#include <vector>

#include <krylith/matrix/files/checksum.hpp>
#include <krylith/matrix/kcsr/head.hpp>

namespace krylith::binary {

template <class T>
void serialise(const csr_view<T>& matrix,
               const std::function<void(std::span<const std::byte>)>& put) {
    head h{{value_type_of<T>, matrix.rows, matrix.columns, matrix.nnz()}, 0};
    const file_layout at = layout_of(h.what);
    const std::array arrays{std::as_bytes(matrix.row_offsets), std::as_bytes(matrix.column_indices),
                            std::as_bytes(matrix.values)};
    const std::array sections{at.row_offsets, at.column_indices, at.values};

    std::vector<std::uint64_t> table(at.table.bytes / sizeof(std::uint64_t));
    std::span<std::uint64_t> rest = table;
    for (std::size_t k = 0; k < arrays.size(); ++k) {
        const std::uint64_t chunks = sections[k].chunks();
        chunk_checksums(arrays[k], rest.first(chunks));
        rest = rest.subspan(chunks);
    }
    h.table_checksum = checksum(std::as_bytes(std::span(table)));
    std::array<std::byte, head_bytes> first_bytes{};
    encode(h, first_bytes);

    put(first_bytes);
    put(std::as_bytes(std::span(table)));
    std::uint64_t written = at.table.end();
    for (std::size_t k = 0; k < arrays.size(); ++k) {
        constexpr std::array<std::byte, alignment> zeros{};
        put(std::span(zeros).first(sections[k].begin - written));
        put(arrays[k]);
        written = sections[k].end();
    }
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void serialise(const csr_view<T>&,                                                    \
                            const std::function<void(std::span<const std::byte>)>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::binary
