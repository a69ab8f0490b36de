// The flaws that an entry line can have, and the messages for them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <krylith/matrix/market/header.hpp>

namespace krylith::market {

enum class flaw : std::uint8_t {
    none,
    bad_row,
    bad_column,
    no_value,
    bad_value,
    not_an_integer,
    negative,
    too_large,
    not_finite,
    trailing_text,
    one_too_many,
    skew_diagonal,
    comment,
    nul
};

/// The message "row is "0", allowed are whole numbers from 1 to 4", for the word where the flaw was
/// found (it may be empty). `largest` is the largest magnitude that the values may have.
[[nodiscard]] std::string in_words(flaw what, std::string_view word, const header& h,
                                   double largest);

} // namespace krylith::market
