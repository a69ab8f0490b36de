#include <krylith/matrix/market/memory_limit.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/memory/memory_room.hpp>
#include <krylith/matrix/files/available_memory.hpp>
#include <krylith/matrix/market/diagnosis.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::market {

void memory_limit::check(double held, double more) const {
    constexpr double unquestioned = 1 << 26; // so much needs no look-up, which takes a while
    std::string bound;
    double left = static_cast<double>(bytes_) - held;
    if (bytes_ == 0) {
        if (more <= unquestioned) {
            return;
        }
        const memory_room room = find_memory_room();
        left = static_cast<double>(room.bytes);
        bound = ", " + room.bound;
    }
    if (more > left) {
        refuse(source_.name(), header_.size_line,
               std::to_string(header_.rows) + " rows and " + std::to_string(header_.entries) +
                   " entries need another " + bytes_in_words(more) +
                   " of memory, allowed is what is available: " +
                   bytes_in_words(std::max(0.0, left)) + bound);
    }
}

void memory_limit::check_rows() const {
    constexpr std::int64_t unquestioned = 1 << 24;
    constexpr std::int64_t rows_an_entry = 64;
    constexpr std::int64_t fraction_of_memory = 8;
    constexpr std::int64_t bytes_a_row = 8;
    const std::int64_t vouched = rows_an_entry * std::min(header_.entries, index_limit);
    const std::int64_t most = std::max(unquestioned, vouched);
    if (header_.rows <= most) {
        return;
    }
    const std::int64_t memory = bytes_ == 0 ? available_memory() : bytes_;
    const std::int64_t affordable = memory / (fraction_of_memory * bytes_a_row);
    if (header_.rows > affordable) {
        refuse(source_.name(), header_.size_line,
               std::to_string(header_.rows) + " rows for " + std::to_string(header_.entries) +
                   " entries, allowed are " + std::to_string(unquestioned) + ", " +
                   std::to_string(rows_an_entry) + " for each entry, and what an eighth of " +
                   bytes_in_words(static_cast<double>(memory)) + " of memory holds, " +
                   std::to_string(affordable));
    }
}

} // namespace krylith::market
