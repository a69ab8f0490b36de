// Rows of a .kcsr file as a matrix of its own: all of them, or a range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/files/byte_source.hpp>
#include <krylith/matrix/kcsr/image.hpp>
#include <krylith/matrix/types/item_range.hpp>

namespace krylith::binary {

/// A file whose head and table of checksums are right. Functions read each byte once, to where it
/// stays, by all OpenMP threads, but for chunks under one checksum of which the range has a part:
/// these are read whole. They throw input_error, beginning with the name of the file, for what
/// open_image refuses of the bytes that they read.
class row_file {
public:
    /// The source must outlive it. Reads the head, the table and the gaps between arrays.
    explicit row_file(const byte_source& file, file_check check = {});

    [[nodiscard]] const contents& what() const noexcept { return head_.what; }

    /// The offsets of the rows, and that behind the last one, as they are stored.
    [[nodiscard]] std::vector<std::int64_t> read_offsets(item_range rows) const;
    /// The entries before a row, unchecked: one small read.
    [[nodiscard]] std::int64_t entries_before(std::int64_t row) const;
    /// The columns of entries, unchecked.
    [[nodiscard]] std::vector<std::int32_t> read_columns(item_range entries) const;
    /// What validate() refuses of the offsets of these rows, the first one's, where they have the
    /// first row, and the number of entries.
    void check_offsets(item_range rows) const;

    /// The rows, whose columns are those of the file; offsets count from 0. Throws also where the
    /// memory can't hold them, and where a value doesn't fit (see read_binary_csr). Calls meet()
    /// between the steps of which each finds other flaws.
    template <class T>
    [[nodiscard]] csr_matrix<T> read_rows(
        item_range rows, const std::function<void()>& meet = [] {}) const;

private:
    struct checked_section;
    [[nodiscard]] checked_section section_of(int number) const;
    [[nodiscard]] std::vector<std::byte> read_bytes(std::uint64_t begin, std::uint64_t end) const;
    template <class T>
    void check_memory(std::int64_t rows, std::int64_t entries) const;

    const byte_source& file_;
    file_check check_;
    head head_;
    file_layout at_;
    std::vector<std::uint64_t> table_; ///< the checksums of all chunks; empty: none are checked
};

/// All rows.
template <class T>
[[nodiscard]] csr_matrix<T> read_matrix(const byte_source& file, file_check check = {});

} // namespace krylith::binary
