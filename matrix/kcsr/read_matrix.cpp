#include <krylith/matrix/kcsr/read_matrix.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <type_traits>
#include <vector>

#include <krylith/device/error.hpp>
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

/// Reads all chunks and throws what the first bad one asks for. `use(first value, values)` gets
/// each chunk.
template <class Stored, class Place, class Use>
void for_chunks(const byte_source& file, const section& part,
                std::span<const std::uint64_t> expected, const Place& place, const Use& use) {
    files::first_failure failure;
    const auto chunks = static_cast<std::int64_t>(part.chunks());
#pragma omp parallel
    {
        std::vector<Stored> buffer;
#pragma omp for schedule(static)
        for (std::int64_t k = 0; k < chunks; ++k) {
            failure.attempt(k, [&] {
                const std::uint64_t begin = static_cast<std::uint64_t>(k) * chunk_bytes;
                const std::uint64_t bytes = std::min(chunk_bytes, part.bytes - begin);
                const std::size_t first = begin / sizeof(Stored);
                const std::span<Stored> values = place(buffer, first, bytes / sizeof(Stored));
                file.read(part.begin + begin, std::as_writable_bytes(values));
                if (!expected.empty()) {
                    check_sum(file.name, part.begin + begin, std::as_bytes(values),
                              expected[as_size(k)]);
                }
                use(first, std::span<const Stored>(values));
            });
        }
    }
    failure.rethrow();
}

/// Copies the numbers as they are stored.
template <class T>
void read_section(const byte_source& file, const section& part,
                  std::span<const std::uint64_t> expected, std::vector<T>& to) {
    to.clear();
    resize_in_parallel(to, part.bytes / sizeof(T));
    for_chunks<T>(
        file, part, expected,
        [&](std::vector<T>&, std::size_t first, std::size_t count) {
            return std::span(to).subspan(first, count);
        },
        [](std::size_t, std::span<const T>) {});
}

/// Converts numbers of another type; notes the first finite one that became infinite.
template <class Stored, class T>
first_flaw read_converted(const byte_source& file, const section& part,
                          std::span<const std::uint64_t> expected, std::vector<T>& to) {
    first_flaw too_large;
    resize_in_parallel(to, part.bytes / sizeof(Stored));
    for_chunks<Stored>(
        file, part, expected,
        [](std::vector<Stored>& buffer, std::size_t, std::size_t count) {
            buffer.resize(count);
            return std::span(buffer);
        },
        [&](std::size_t first, std::span<const Stored> values) {
            bool fits = true;
            for (std::size_t k = 0; k < values.size(); ++k) {
                to[first + k] = static_cast<T>(values[k]);
                if (fits && std::isfinite(values[k]) && !std::isfinite(to[first + k])) {
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
[[noreturn]] void refuse_overflow(const csr_matrix<T>& matrix, const first_flaw& flaw,
                                  const std::string& name) {
    const auto& offsets = matrix.row_offsets;
    const auto row = std::ranges::upper_bound(offsets, flaw.place) - offsets.begin() - 1;
    std::array<char, 32> value{};
    std::snprintf(value.data(), value.size(), "%.17g", flaw.what);
    throw input_error(name + ": the value in row " + std::to_string(row) + ", column " +
                      std::to_string(matrix.column_indices[as_size(flaw.place)]) + " (from 0) is " +
                      value.data() + ", too large for fp32, allowed are magnitudes to 3.4e38");
}

template <class T>
void check_memory(const contents& what, const std::string& name) {
    const double bytes = static_cast<double>(what.rows) * sizeof(std::int64_t) +
                         static_cast<double>(what.nnz) * (sizeof(std::int32_t) + sizeof(T));
    if (const auto available = static_cast<double>(available_memory()); bytes > available) {
        throw input_error(name + ": the matrix needs " + bytes_in_words(bytes) +
                          " of memory, allowed is what is available: " + available_in_words());
    }
}

std::vector<std::byte> read_bytes(const byte_source& file, std::uint64_t begin, std::uint64_t end) {
    std::vector<std::byte> bytes(end - begin);
    file.read(begin, bytes);
    return bytes;
}

/// The checksums of all chunks; empty if they aren't to be checked.
std::vector<std::uint64_t> read_table(const byte_source& file, const head& h, file_check check) {
    const file_layout at = layout_of(h.what);
    std::vector<std::uint64_t> table;
    if (check.checksums) {
        table.resize(at.table.bytes / sizeof(std::uint64_t));
        const auto bytes = std::as_writable_bytes(std::span(table));
        file.read(at.table.begin, bytes);
        check_table(file.name, at.table, bytes, h.table_checksum);
    }
    return table;
}

} // namespace

template <class T>
csr_matrix<T> read_matrix(const byte_source& file, file_check check) {
    const auto beginning = read_bytes(file, 0, std::min(head_bytes, file.bytes));
    const head h = decode(beginning, file.bytes, file.name);
    check_memory<T>(h.what, file.name);
    const file_layout at = layout_of(h.what);
    const std::vector<std::uint64_t> table = read_table(file, h, check);
    std::span<const std::uint64_t> rest = table;
    // There are zeros between the sections, so that no byte of the file is unchecked.
    const auto next = [&](std::uint64_t begin, const section& part) {
        const auto sums = rest.first(check.checksums ? part.chunks() : 0);
        rest = rest.subspan(sums.size());
        if (check.checksums) {
            check_gap(file.name, begin, read_bytes(file, begin, part.begin));
        }
        return sums;
    };
    csr_matrix<T> matrix;
    matrix.rows = h.what.rows;
    matrix.columns = h.what.columns;
    read_section(file, at.row_offsets, next(at.table.end(), at.row_offsets), matrix.row_offsets);
    read_section(file, at.column_indices, next(at.row_offsets.end(), at.column_indices),
                 matrix.column_indices);
    const auto sums = next(at.column_indices.end(), at.values);
    first_flaw too_large;
    if (h.what.type == value_type_of<T>) {
        read_section(file, at.values, sums, matrix.values);
    } else {
        using other = std::conditional_t<std::is_same_v<T, double>, float, double>;
        too_large = read_converted<other>(file, at.values, sums, matrix.values);
    }
    if (check.matrix) {
        try {
            validate(csr_view<T>(matrix));
        } catch (const input_error& offence) {
            throw input_error(file.name + ": " + offence.what());
        }
    }
    if (too_large.place >= 0) {
        refuse_overflow(matrix, too_large, file.name);
    }
    return matrix;
}

#define KRYLITH_INSTANTIATE(T) template csr_matrix<T> read_matrix(const byte_source&, file_check);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::binary
