// The few literals of Python that headers of .npy arrays have.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace krylith::numpy {

/// Takes literals from the front of a text. Each returns nothing, and takes nothing of worth, if
/// something else stands there. Blanks before them are skipped.
class literal_reader {
public:
    explicit literal_reader(std::string_view text) : rest_(text) {}

    /// The mark, such as "{".
    [[nodiscard]] bool take(std::string_view mark);
    /// 'text' or "text", without escapes.
    [[nodiscard]] std::optional<std::string_view> take_string();
    /// True or False.
    [[nodiscard]] std::optional<bool> take_bool();
    /// A tuple of whole numbers below 2^63: (), (3,), (3, 4); Python 2 put an L behind them.
    [[nodiscard]] std::optional<std::vector<std::uint64_t>> take_sizes();
    [[nodiscard]] bool at_end();

private:
    void skip_blanks();

    std::string_view rest_;
};

} // namespace krylith::numpy
