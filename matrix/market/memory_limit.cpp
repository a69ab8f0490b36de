#include <krylith/matrix/market/memory_limit.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/memory/memory_room.hpp>
#include <krylith/matrix/files/available_memory.hpp>
#include <krylith/matrix/files/input_checks.hpp>
#include <krylith/matrix/market/diagnosis.hpp>

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
    if (const auto objection = files::unfounded_rows(header_.rows, header_.entries, bytes_)) {
        refuse(source_.name(), header_.size_line, *objection);
    }
}

} // namespace krylith::market
