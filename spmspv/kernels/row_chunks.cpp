#include <krylith/spmspv/csr_csc_pair/row_chunks.hpp>

namespace krylith::spmspv {

std::vector<row_chunk> cut_long_words(std::span<const std::int32_t> offsets) {
    std::vector<row_chunk> chunks;
    const std::size_t rows = offsets.size() - 1;
    for (std::size_t row = 0; row < rows; row += 32) {
        const auto entries =
            static_cast<std::uint32_t>(offsets[std::min(row + 32, rows)] - offsets[row]);
        if (entries <= whole_word_entries) continue;
        const std::uint32_t each = chunk_entries(entries);
        const auto parts = static_cast<std::int32_t>((entries + each - 1) / each);
        for (std::int32_t part = 0; part < parts; ++part)
            chunks.push_back({static_cast<std::int32_t>(row / 32), part, parts});
    }
    return chunks;
}

} // namespace krylith::spmspv
