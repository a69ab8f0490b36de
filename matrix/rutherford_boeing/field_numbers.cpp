#include <krylith/matrix/rutherford_boeing/field_numbers.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
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

/// The same number as C would write it. `shift` powers of ten are added to its exponent.
std::string with_exponent(std::string_view mantissa, std::string_view exponent, int shift) {
    int power = 0;
    if (exponent.starts_with('+')) {
        exponent.remove_prefix(1);
    }
    const char* const end = exponent.data() + exponent.size();
    const auto [stop, code] = std::from_chars(exponent.data(), end, power);
    if (!exponent.empty() &&
        (code != std::errc() || stop != end || power > 99999 || power < -99999)) {
        return {};
    }
    return std::string(mantissa) + "e" + std::to_string(power + shift);
}

} // namespace

void split_line(std::string_view line, const fortran_format& format, std::size_t count,
                std::vector<std::string_view>& fields) {
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
    if (fields.size() == count) {
        return;
    }
    fields.clear();
    for (std::size_t k = 0; k < count; ++k) {
        fields.push_back(field_of(line, format.fields[k]));
    }
}

bool read_whole(std::string_view text, std::int64_t most, std::int64_t& number) {
    const char* const end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, number);
    return code == std::errc() && stop == end && number >= 1 && number <= most;
}

template <class T>
bool read_real(std::string_view text, const fortran_format& format, T& number) {
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
    const bool has_exponent = mantissa != std::string_view::npos;
    std::string_view exponent = has_exponent ? text.substr(mantissa) : std::string_view();
    exponent.remove_prefix(letter != std::string_view::npos ? 1 : 0);
    const int shift = -(pointed ? 0 : format.decimals) - (has_exponent ? 0 : format.scale);
    if (has_exponent && exponent.empty()) {
        return false;
    }
    const std::string word = with_exponent(text.substr(0, mantissa), exponent, shift);
    return !word.empty() && read_plain(std::string_view(word), number);
}

template bool read_real(std::string_view, const fortran_format&, double&);
template bool read_real(std::string_view, const fortran_format&, float&);

} // namespace krylith::rutherford_boeing
