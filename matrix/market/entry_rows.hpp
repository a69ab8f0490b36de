// The entries of a Matrix Market file as rows of a matrix, all of them or some.
#pragma once

#include <cstdint>
#include <new>
#include <string>

#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/files/file_report.hpp>
#include <krylith/matrix/market/header.hpp>
#include <krylith/matrix/market/line_source.hpp>
#include <krylith/matrix/market/memory_limit.hpp>
#include <krylith/matrix/market/mirror.hpp>
#include <krylith/matrix/market/number.hpp>

namespace krylith::market {

[[noreturn]] void refuse_memory(const line_source& source, const header& h);

/// Runs read(), which returns the contents; throws a message if they don't fit in memory.
template <class Read>
auto within_memory(const line_source& source, const header& h, const Read& read) {
    try {
        return read();
    } catch (const std::bad_alloc&) {
        refuse_memory(source, h);
    }
}

/// The bytes of a CSR matrix with that many rows and entries.
template <class T>
[[nodiscard]] double csr_bytes(std::int64_t rows, std::int64_t entries) {
    return 8.0 * static_cast<double>(rows + 1) +
           static_cast<double>(sizeof(std::int32_t) + sizeof(T)) * static_cast<double>(entries);
}

/// The matrix of entries whose rows count from `first_row` of the file's: canonical, duplicates
/// summed in the order in which they stand, and counted. Throws input_error where the memory is
/// short, and for the first infinite sum, which finite duplicates may have.
template <class T>
[[nodiscard]] csr_matrix<T> to_rows(line_source& source, const header& h, const memory_limit& limit,
                                    coo_matrix<T>&& entries, std::int64_t first_row,
                                    std::int64_t& duplicates);

[[noreturn]] void refuse_infinite(line_source& source, const header& h, std::int64_t row,
                                  std::int64_t column);
/// Throws input_error for sizes that are not those of a vector.
void refuse_other_than_vector(const line_source& source, const header& h);
[[noreturn]] void refuse_given_twice(line_source& source, const header& h, place twice);

/// What the header says, and what the lines were.
[[nodiscard]] file_report report_on(const header& h, const tally& counts, std::int64_t entries);

} // namespace krylith::market
