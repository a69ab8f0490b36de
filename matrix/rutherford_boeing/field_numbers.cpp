#include <krylith/matrix/rutherford_boeing/field_numbers.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>

#include <krylith/matrix/market/number.hpp>

namespace krylith::rutherford_boeing {
namespace {

template <class T>
bool read_plain(std::string_view text, T& number) {
    market::tally uncounted;
    const char* const end = text.data() + text.size();
    const market::reading result = market::read_real(text.data(), end, number, uncounted);
    return result.flaw == market::flaw::none && result.at == end;
}

/// The exponent, of which the sign may be a plus; nothing for anything else.
std::optional<int> read_exponent(std::string_view text) {
    if (text.starts_with('+')) {
        text.remove_prefix(1);
    }
    int power = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, power);
    const bool good = code == std::errc() && stop == end && power < 100000 && power > -100000;
    return good ? std::optional(power) : std::nullopt;
}

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

std::size_t end_of(const fortran_field& field) {
    return static_cast<std::size_t>(field.begin + field.width);
}

bool is_sign(char c) {
    return c == '-' || c == '+';
}

/// Blanks behind a sign belong to the number.
std::size_t digits_of(std::string_view field) {
    return !field.empty() && is_sign(field.front())
               ? std::min(field.find_first_not_of(" \t", 1), field.size())
               : 0;
}

bool are_one_word_each(const std::vector<std::string_view>& fields) {
    return std::ranges::none_of(fields, [](std::string_view field) {
        return field.empty() ||
               field.find_first_of(" \t", digits_of(field)) != std::string_view::npos;
    });
}

/// Whether a word goes on over the end of one of the columns, but for a sign behind a digit, and
/// for the number of the line behind the last: that begins in column 73, or with a letter that no
/// number has.
bool cuts_word(std::string_view line, const fortran_format& format, std::size_t count) {
    const auto is_one_of = [](char c, std::string_view all) {
        return all.find(c) != std::string_view::npos;
    };
    for (std::size_t k = 0; k < count; ++k) {
        const std::size_t end = end_of(format.fields[k]);
        if (end >= line.size() || is_blank(line[end - 1]) || is_blank(line[end])) {
            continue;
        }
        const bool sign = is_sign(line[end]) && is_one_of(line[end - 1], "0123456789.");
        const bool number_behind =
            k + 1 == count && (end == number_column || !is_one_of(line[end], "0123456789+-.eEdD"));
        if (!sign && !number_behind) {
            return true;
        }
    }
    return false;
}

/// Whether the last word of the line lies behind all columns, from column 73 on.
bool has_number_behind(std::string_view line, const fortran_format& format, std::size_t count) {
    line = line.substr(0, line.find_last_not_of(" \t") + 1);
    return count > 0 && end_of(format.fields[count - 1]) <= number_column &&
           line.size() > number_column && line.find_last_of(" \t") + 1 >= number_column;
}

} // namespace

void split_line(std::string_view line, const fortran_format& format, std::size_t count,
                std::vector<std::string_view>& fields) {
    const auto take_columns = [&] {
        fields.clear();
        for (std::size_t k = 0; k < count; ++k) {
            fields.push_back(field_of(line, format.fields[k]));
        }
    };
    take_columns();
    if (are_one_word_each(fields) &&
        (!cuts_word(line, format, count) || has_number_behind(line, format, count))) {
        return;
    }
    fields.clear();
    std::size_t at = 0;
    while (fields.size() <= count) {
        at = std::min(line.find_first_not_of(" \t", at), line.size());
        if (at == line.size()) {
            break;
        }
        const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
        fields.push_back(line.substr(at, end - at));
        at = end;
    }
    if (fields.size() != count) {
        take_columns();
    }
}

bool read_whole(std::string_view text, std::int64_t most, std::int64_t& number) {
    const char* const end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, number);
    return code == std::errc() && stop == end && number >= 1 && number <= most;
}

template <class T>
bool read_real(std::string_view text, const fortran_format& format, T& number) {
    if (const std::size_t digits = digits_of(text); digits > 1) {
        const std::string joined = text.front() + std::string(text.substr(digits));
        return read_real(std::string_view(joined), format, number);
    }
    const bool pointed = text.find('.') != std::string_view::npos;
    const std::size_t letter = text.find_first_of("EeDd");
    const bool plain = (pointed || format.decimals == 0) &&
                       (format.scale == 0 || letter != std::string_view::npos);
    if (plain && read_plain(text, number)) {
        return true;
    }
    // 1.5-100 has no letter before its exponent.
    const std::size_t sign = text.find_last_of("+-");
    std::size_t mantissa = letter;
    if (letter == std::string_view::npos && sign != std::string_view::npos && sign > 0) {
        mantissa = sign;
    }
    std::optional<int> power = 0;
    const bool has_exponent = mantissa != std::string_view::npos;
    if (has_exponent) {
        power = read_exponent(text.substr(mantissa + (letter == std::string_view::npos ? 0 : 1)));
    }
    if (!power) {
        return false;
    }
    const int shift = -(pointed ? 0 : format.decimals) - (has_exponent ? 0 : format.scale);
    // The same number as C would write it.
    const std::string word =
        std::string(text.substr(0, mantissa)) + "e" + std::to_string(*power + shift);
    return read_plain(std::string_view(word), number);
}

#define KRYLITH_INSTANTIATE(T) template bool read_real(std::string_view, const fortran_format&, T&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::rutherford_boeing
