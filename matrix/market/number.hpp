// Reading the numbers of an entry line, in place and without allocation but for rare spellings.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>

#include <krylith/matrix/market/flaw.hpp>
#include <krylith/matrix/market/header.hpp>

namespace krylith::market {

/// The counts of numbers that were not read as they stand; see file_report.
struct tally {
    std::int64_t rounded = 0;
    std::int64_t vanished = 0;
    std::int64_t ignored = 0;

    tally& operator+=(const tally& other) {
        rounded += other.rounded;
        vanished += other.vanished;
        ignored += other.ignored;
        return *this;
    }
};

/// The place where reading went on, or that of the flaw.
struct reading {
    const char* at;
    market::flaw flaw = flaw::none;
};

[[nodiscard]] inline bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

[[nodiscard]] inline const char* skip_blanks(const char* p, const char* end) {
    while (p != end && is_blank(*p)) {
        ++p;
    }
    return p;
}

/// Returns whether p is at LF, CR LF, or the end of the text.
[[nodiscard]] inline bool at_line_end(const char* p, const char* end) {
    return p == end || *p == '\n' || (*p == '\r' && (p + 1 == end || p[1] == '\n'));
}

[[nodiscard]] inline bool at_word_end(const char* p, const char* end) {
    return at_line_end(p, end) || is_blank(*p);
}

/// The end of the word that starts at p.
[[nodiscard]] inline const char* word_end(const char* p, const char* end) {
    while (!at_word_end(p, end)) {
        ++p;
    }
    return p;
}

/// Reads one of `count` whole numbers from `first` on, and counts it from 0. Returns false, with p
/// untouched, if the word at p is anything else ("1.0", "+1", too small or large, absent).
[[nodiscard]] inline bool read_index(const char*& p, const char* end, std::int64_t first,
                                     std::int64_t count, std::int32_t& index) {
    std::int64_t number = 0;
    const char* q = p;
    for (; q != end && *q >= '0' && *q <= '9'; ++q) {
        number = number * 10 + (*q - '0');
        if (number >= first + count) { // which is at most 2^31: no overflow above
            return false;
        }
    }
    if (q == p || number < first || !at_word_end(q, end)) {
        return false;
    }
    index = static_cast<std::int32_t>(number - first);
    p = q;
    return true;
}

/// Reads the word [first, last) where std::from_chars doesn't: the exponents D and d of Fortran,
/// and magnitudes too small for T, which become zero.
template <class T>
[[nodiscard]] flaw read_rare_real(const char* first, const char* last, T& value, tally& counts);

/// Returns whether the value, of either sign, is exactly the whole number of the digits [first,
/// last).
template <class T>
[[nodiscard]] bool holds_exactly(T value, const char* first, const char* last);

/// Reads a real number, rounded to the nearest T.
template <class T>
[[nodiscard]] reading read_real(const char* p, const char* end, T& value, tally& counts) {
    const char* first = p;
    if (first != end && *first == '+') { // from_chars knows no plus sign
        ++first;
        if (first != end && *first == '-') {
            return {p, flaw::bad_value};
        }
    }
    const auto [stop, code] = std::from_chars(first, end, value);
    if (code == std::errc() && at_word_end(stop, end)) {
        return std::isfinite(value) ? reading{stop} : reading{p, flaw::not_finite};
    }
    const char* const last = word_end(first, end);
    const flaw rare = read_rare_real(first, last, value, counts);
    return rare == flaw::none ? reading{last} : reading{p, rare};
}

/// Reads a whole number with an optional sign. It is exact up to 2^53 (float: 2^24); beyond, where
/// T can't hold it, it is rounded to the nearest and counted.
template <class T>
[[nodiscard]] reading read_integer(const char* p, const char* end, T& value, tally& counts) {
    const char* q = p;
    if (q != end && (*q == '-' || *q == '+')) {
        ++q;
    }
    const char* const digits = q;
    while (q != end && *q >= '0' && *q <= '9') {
        ++q;
    }
    if (q == digits || !at_word_end(q, end)) {
        return {p, flaw::not_an_integer};
    }
    const reading result = read_real(p, end, value, counts);
    if (result.flaw == flaw::none && q - digits > std::numeric_limits<T>::digits10) {
        counts.rounded += !holds_exactly(value, digits, q);
    }
    return result;
}

/// Reads the value of an entry. A pattern's is 1; some pattern files carry a number nevertheless,
/// which must be one, and is ignored and counted.
template <class T>
[[nodiscard]] reading read_value(const char* p, const char* end, field f, T& value, tally& counts) {
    if (f == field::pattern) {
        value = T(1);
        if (at_line_end(p, end)) {
            return {p};
        }
        T ignored{};
        tally uncounted;
        ++counts.ignored;
        return read_real(p, end, ignored, uncounted);
    }
    if (at_line_end(p, end)) {
        return {p, flaw::no_value};
    }
    if (f == field::real) {
        return read_real(p, end, value, counts);
    }
    if (f == field::unsigned_integer && *p == '-') {
        return {p, flaw::negative};
    }
    return read_integer(p, end, value, counts);
}

} // namespace krylith::market
