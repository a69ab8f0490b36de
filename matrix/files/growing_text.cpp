#include <krylith/matrix/files/growing_text.hpp>

#include <algorithm>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/available_memory.hpp>

namespace krylith::files {

std::span<char> growing_text::room(std::size_t least) {
    constexpr std::size_t unquestioned = std::size_t{1} << 26; // so much needs no look-up
    if (text_.size() - used_ < least) {
        const std::size_t wanted = std::max(used_ + least, 2 * text_.size());
        const auto more = static_cast<double>(wanted);
        if (wanted > unquestioned && more > static_cast<double>(available_memory())) {
            throw input_error(name_ + ": the first " + bytes_in_words(static_cast<double>(used_)) +
                              " of it need another " + bytes_in_words(more) +
                              " of memory, allowed is what is available: " + available_in_words());
        }
        text_.resize(wanted);
    }
    return std::span(text_).subspan(used_);
}

std::string growing_text::take() {
    text_.resize(used_);
    return std::exchange(text_, {});
}

} // namespace krylith::files
