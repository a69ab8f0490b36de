#include <krylith/matrix/files/input_checks.hpp>

#include <algorithm>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/available_memory.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::files {

void check_memory(const std::string& file, double bytes, std::int64_t memory) {
    constexpr double unquestioned = 1 << 26; // so much needs no look-up, which takes a while
    if (memory == 0 && bytes <= unquestioned) {
        return;
    }
    const auto room = static_cast<double>(memory == 0 ? available_memory() : memory);
    if (bytes > room) {
        throw input_error(file + ": reading it needs " + bytes_in_words(bytes) +
                          " of memory, allowed is what is available: " +
                          (memory == 0 ? available_in_words() : bytes_in_words(room)));
    }
}

std::optional<std::string> unfounded_rows(std::int64_t rows, std::int64_t entries,
                                          std::int64_t memory) {
    constexpr std::int64_t unquestioned = 1 << 24;
    constexpr std::int64_t rows_an_entry = 64;
    constexpr std::int64_t fraction_of_memory = 8;
    constexpr std::int64_t bytes_a_row = 8;
    const std::int64_t vouched = rows_an_entry * std::min(entries, index_limit);
    if (rows <= std::max(unquestioned, vouched)) {
        return std::nullopt;
    }
    const std::int64_t room = memory == 0 ? available_memory() : memory;
    const std::int64_t affordable = room / (fraction_of_memory * bytes_a_row);
    if (rows <= affordable) {
        return std::nullopt;
    }
    return std::to_string(rows) + " rows for " + std::to_string(entries) +
           " entries, allowed are " + std::to_string(unquestioned) + ", " +
           std::to_string(rows_an_entry) + " for each entry, and what an eighth of " +
           bytes_in_words(static_cast<double>(room)) + " of memory holds, " +
           std::to_string(affordable);
}

void check_rows(const std::string& file, std::int64_t rows, std::int64_t entries,
                std::int64_t memory) {
    if (const auto objection = unfounded_rows(rows, entries, memory)) {
        throw input_error(file + ": " + *objection);
    }
}

template <class T>
void validate_input(const std::string& file, const csr_view<T>& matrix) {
    try {
        validate(matrix);
    } catch (const input_error& offence) {
        throw input_error(file + ": " + offence.what());
    }
}

#define KRYLITH_INSTANTIATE(T) template void validate_input(const std::string&, const csr_view<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::files
