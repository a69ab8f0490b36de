#include <krylith/matrix/market/number.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace krylith::market {
namespace {

/// Returns true for a decimal number (as from_chars accepted it) of magnitude below 1: it tells
/// numbers too small for a floating-point type from those too large.
bool below_one(const std::string& number) {
    constexpr std::int64_t plenty = 1'000'000'000'000; // no overflow while the exponent is read
    std::int64_t magnitude = 0;                        // decimal exponent of the first digit
    std::int64_t exponent = 0;
    bool significant = false;
    bool fraction = false;
    std::size_t k = 0;
    for (; k < number.size() && number[k] != 'e' && number[k] != 'E'; ++k) {
        if (number[k] == '.') {
            fraction = true;
        } else if (number[k] >= '0' && number[k] <= '9') {
            if (fraction && !significant) {
                --magnitude;
            } else if (!fraction && significant) {
                ++magnitude;
            }
            significant = significant || number[k] != '0';
        }
    }
    const bool negative = k + 1 < number.size() && number[k + 1] == '-';
    for (; k < number.size(); ++k) {
        if (number[k] >= '0' && number[k] <= '9') {
            exponent = std::min(plenty, exponent * 10 + (number[k] - '0'));
        }
    }
    return magnitude + (negative ? -exponent : exponent) < 0;
}

} // namespace

template <class T>
flaw read_rare_real(const char* first, const char* last, T& value, tally& counts) {
    std::string word(first, last);
    std::ranges::replace(word, 'D', 'e');
    std::ranges::replace(word, 'd', 'e');
    const char* const end = word.data() + word.size();
    const auto [stop, code] = std::from_chars(word.data(), end, value);
    if (code == std::errc::invalid_argument || stop != end) {
        return flaw::bad_value;
    }
    if (code == std::errc::result_out_of_range) {
        if (!below_one(word)) {
            return flaw::too_large;
        }
        value = word.front() == '-' ? -T(0) : T(0);
        ++counts.vanished;
    }
    return std::isfinite(value) ? flaw::none : flaw::not_finite;
}

template <class T>
bool holds_exactly(T value, const char* first, const char* last) {
    first = std::find_if(first, last, [](char c) { return c != '0'; });
    std::array<char, 400> digits{}; // the largest double has 309
    const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                          std::abs(value), std::chars_format::fixed, 0)
                                .ptr;
    return first == last ? value == T(0)
                         : std::equal(first, last, static_cast<const char*>(digits.data()), end);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template flaw read_rare_real(const char*, const char*, T&, tally&);                            \
    template bool holds_exactly(T, const char*, const char*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::market
