#include <krylith/matrix/kcsr/row_file.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <type_traits>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/compressed/compressed_check.hpp>
#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/files/available_memory.hpp>
#include <krylith/matrix/files/checksum.hpp>
#include <krylith/matrix/files/first_failure.hpp>
#include <krylith/matrix/kcsr/damage.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::binary {
namespace {

/// The first flaw of a value. Threads find flaws in any order.
struct first_flaw {
    std::int64_t place = -1;
    double what = 0;

    void offer(std::int64_t found_at, double found) {
#pragma omp critical(krylith_first_flaw)
        if (place < 0 || found_at < place) {
            place = found_at;
            what = found;
        }
    }
};

/// Reads the chunks that have some of the items, and throws what the first bad one asks for.
/// `use(k, items)` gets those of a chunk, of which the first is number k of the range. `to` is
/// where they stay; null where they don't.
template <class Stored, class Use>
void for_chunks(const byte_source& file, const section& part,
                std::span<const std::uint64_t> expected, item_range items, Stored* to,
                const Use& use) {
    if (items.size() == 0) return;
    constexpr auto per_chunk = static_cast<std::int64_t>(chunk_bytes / sizeof(Stored));
    const auto all = static_cast<std::int64_t>(part.bytes / sizeof(Stored));
    files::first_failure failure;
    const std::int64_t last = (items.end - 1) / per_chunk;
#pragma omp parallel
    {
        std::vector<Stored> buffer;
#pragma omp for schedule(static)
        for (std::int64_t k = items.begin / per_chunk; k <= last; ++k) {
            failure.attempt(k, [&] {
                const std::int64_t begin = k * per_chunk;
                const std::int64_t end = std::min(begin + per_chunk, all);
                const std::int64_t from = std::max(begin, items.begin);
                const auto count = as_size(std::min(end, items.end) - from);
                const bool stays = to != nullptr && as_size(end - begin) == count;
                if (!stays) buffer.resize(as_size(end - begin));
                const std::span<Stored> chunk(stays ? to + (from - items.begin) : buffer.data(),
                                              as_size(end - begin));
                const std::uint64_t place = part.begin + as_size(begin) * sizeof(Stored);
                file.read(place, std::as_writable_bytes(chunk));
                if (!expected.empty()) {
                    check_sum(file.name, place, std::as_bytes(chunk), expected[as_size(k)]);
                }
                const auto wanted =
                    std::span<const Stored>(chunk).subspan(as_size(from - begin), count);
                if (to != nullptr && !stays) {
                    std::ranges::copy(wanted, to + (from - items.begin));
                }
                use(as_size(from - items.begin), wanted);
            });
        }
    }
    failure.rethrow();
}

/// Copies the numbers as they are stored.
template <class T>
void read_section(const byte_source& file, const section& part,
                  std::span<const std::uint64_t> expected, item_range items, std::vector<T>& to) {
    to.clear();
    resize_in_parallel(to, as_size(items.size()));
    for_chunks<T>(file, part, expected, items, to.data(), [](std::size_t, std::span<const T>) {});
}

/// Converts numbers of another type; notes the first finite one that became infinite.
template <class Stored, class T>
first_flaw read_converted(const byte_source& file, const section& part,
                          std::span<const std::uint64_t> expected, item_range items,
                          std::vector<T>& to) {
    first_flaw too_large;
    resize_in_parallel(to, as_size(items.size()));
    for_chunks<Stored>(file, part, expected, items, nullptr,
                       [&](std::size_t first, std::span<const Stored> values) {
                           bool fits = true;
                           for (std::size_t k = 0; k < values.size(); ++k) {
                               to[first + k] = static_cast<T>(values[k]);
                               if (fits && std::isfinite(values[k]) &&
                                   !std::isfinite(to[first + k])) {
                                   fits = false;
                                   too_large.offer(static_cast<std::int64_t>(first + k),
                                                   static_cast<double>(values[k]));
                               }
                           }
                       });
    return too_large;
}

/// Refuses a finite number that became infinite: it would be another matrix.
template <class T>
[[noreturn]] void refuse_overflow(const csr_matrix<T>& matrix, std::int64_t first_row,
                                  const first_flaw& flaw, const std::string& name) {
    const auto& offsets = matrix.row_offsets;
    const auto row = std::ranges::upper_bound(offsets, flaw.place) - offsets.begin() - 1;
    std::array<char, 32> value{};
    std::snprintf(value.data(), value.size(), "%.17g", flaw.what);
    throw input_error(name + ": the value in row " + std::to_string(first_row + row) + ", column " +
                      std::to_string(matrix.column_indices[as_size(flaw.place)]) + " (from 0) is " +
                      value.data() + ", too large for fp32, allowed are magnitudes to 3.4e38");
}

/// Calls check(), and names the file in what it throws.
template <class Check>
void with_name(const std::string& name, const Check& check) {
    try {
        check();
    } catch (const input_error& offence) {
        throw input_error(name + ": " + offence.what());
    }
}

} // namespace

/// One of the three arrays, with the checksums of its chunks.
struct row_file::checked_section {
    section part;
    std::span<const std::uint64_t> sums;
};

row_file::row_file(const byte_source& file, file_check check) : file_(file), check_(check) {
    head_ = decode(read_bytes(0, std::min(head_bytes, file.bytes)), file.bytes, file.name);
    at_ = layout_of(head_.what);
    if (!check.checksums) {
        return;
    }
    table_.resize(at_.table.bytes / sizeof(std::uint64_t));
    const auto bytes = std::as_writable_bytes(std::span(table_));
    file.read(at_.table.begin, bytes);
    check_table(file.name, at_.table, bytes, head_.table_checksum);
    // There are zeros between the sections, so that no byte of the file is unchecked.
    std::uint64_t begin = at_.table.end();
    for (const section& part : {at_.row_offsets, at_.column_indices, at_.values}) {
        check_gap(file.name, begin, read_bytes(begin, part.begin));
        begin = part.end();
    }
}

std::vector<std::byte> row_file::read_bytes(std::uint64_t begin, std::uint64_t end) const {
    std::vector<std::byte> bytes(end - begin);
    file_.read(begin, bytes);
    return bytes;
}

row_file::checked_section row_file::section_of(int number) const {
    const std::array parts{at_.row_offsets, at_.column_indices, at_.values};
    std::uint64_t before = 0;
    for (int k = 0; k < number; ++k) {
        before += parts[as_size(k)].chunks();
    }
    const section& part = parts[as_size(number)];
    return {part, table_.empty() ? std::span<const std::uint64_t>()
                                 : std::span(table_).subspan(before, part.chunks())};
}

std::vector<std::int64_t> row_file::read_offsets(item_range rows) const {
    const auto [part, sums] = section_of(0);
    std::vector<std::int64_t> offsets;
    read_section(file_, part, sums, {rows.begin, rows.end + 1}, offsets);
    return offsets;
}

std::int64_t row_file::entries_before(std::int64_t row) const {
    std::int64_t before = 0;
    file_.read(at_.row_offsets.begin + as_size(row) * sizeof before,
               std::as_writable_bytes(std::span(&before, 1)));
    return before;
}

std::vector<std::int32_t> row_file::read_columns(item_range entries) const {
    std::vector<std::int32_t> columns(as_size(entries.size()));
    file_.read(at_.column_indices.begin + as_size(entries.begin) * sizeof columns[0],
               std::as_writable_bytes(std::span(columns)));
    return columns;
}

void row_file::check_offsets(item_range rows) const {
    const std::vector<std::int64_t> offsets = read_offsets(rows);
    with_name(file_.name, [&] {
        check_ends(csr_names, what().rows, entries_before(0), entries_before(what().rows),
                   what().nnz);
        krylith::check_offsets(csr_names, offsets, {rows.begin, offsets.front()});
    });
}

template <class T>
void row_file::check_memory(std::int64_t rows, std::int64_t entries) const {
    const double bytes = static_cast<double>(rows) * sizeof(std::int64_t) +
                         static_cast<double>(entries) * (sizeof(std::int32_t) + sizeof(T));
    if (const auto available = static_cast<double>(available_memory()); bytes > available) {
        throw input_error(file_.name + ": the matrix needs " + bytes_in_words(bytes) +
                          " of memory, allowed is what is available: " + available_in_words());
    }
}

template <class T>
csr_matrix<T> row_file::read_rows(item_range rows, const std::function<void()>& meet) const {
    const bool all = rows.size() == what().rows;
    if (all) check_memory<T>(rows.size(), what().nnz); // of offsets, too
    csr_matrix<T> matrix;
    matrix.rows = rows.size();
    matrix.columns = what().columns;
    matrix.row_offsets = read_offsets(rows);
    item_range entries{0, what().nnz};
    if (!all) {
        entries = {matrix.row_offsets.front(), matrix.row_offsets.back()};
        if (entries.begin < 0 || entries.end < entries.begin || entries.end > what().nnz) {
            throw input_error(file_.name + ": has changed while it was read");
        }
        check_memory<T>(rows.size(), entries.size());
    }
    const auto [columns, sums_of_columns] = section_of(1);
    read_section(file_, columns, sums_of_columns, entries, matrix.column_indices);
    meet();
    const auto [values, sums] = section_of(2);
    first_flaw too_large;
    if (what().type == value_type_of<T>) {
        read_section(file_, values, sums, entries, matrix.values);
    } else {
        using other = std::conditional_t<std::is_same_v<T, double>, float, double>;
        too_large = read_converted<other>(file_, values, sums, entries, matrix.values);
    }
    meet();
    if (check_.matrix) {
        with_name(file_.name, [&] {
            check_compressed(csr_names, matrix.rows, matrix.columns, matrix.row_offsets,
                             matrix.column_indices, matrix.values.size(),
                             {rows.begin, entries.begin});
        });
    }
    meet();
    if (entries.begin != 0) {
        for (std::int64_t& offset : matrix.row_offsets) offset -= entries.begin;
    }
    if (too_large.place >= 0) {
        refuse_overflow(matrix, rows.begin, too_large, file_.name);
    }
    return matrix;
}

template <class T>
csr_matrix<T> read_matrix(const byte_source& file, file_check check) {
    const row_file rows(file, check);
    return rows.read_rows<T>({0, rows.what().rows});
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> row_file::read_rows(item_range, const std::function<void()>&) const;    \
    template csr_matrix<T> read_matrix(const byte_source&, file_check);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::binary
