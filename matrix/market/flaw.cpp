#include <krylith/matrix/market/flaw.hpp>

#include <array>
#include <charconv>

#include <krylith/matrix/market/diagnosis.hpp>

namespace krylith::market {
namespace {

std::string form_of_line(const header& h) {
    if (h.layout == layout::array) {
        return "one value a line";
    }
    return h.field == field::pattern ? "ROW COLUMN" : "ROW COLUMN VALUE";
}

std::string bad_index(const char* name, std::string_view word, std::int64_t first,
                      std::int64_t count) {
    const std::string found = word.empty() ? std::string("no ") + name
                                           : std::string("the ") + name + " is " + quoted(word);
    const std::string allowed = count == 0 ? "none, as the matrix is empty"
                                           : "whole numbers from " + std::to_string(first) +
                                                 " to " + std::to_string(first + count - 1);
    return found + ", allowed are " + allowed;
}

std::string shortest(double number) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    return {text.data(), end};
}

} // namespace

std::string in_words(flaw what, std::string_view word, const header& h, double largest) {
    const std::string value = "the value is " + quoted(word) + ", allowed ";
    switch (what) {
    case flaw::none: return "no flaw";
    case flaw::bad_row: return bad_index("row", word, h.first_index, h.rows);
    case flaw::bad_column: return bad_index("column", word, h.first_index, h.columns);
    case flaw::no_value: return "no value, allowed is " + form_of_line(h);
    case flaw::bad_value: return value + "is a decimal number such as 1, -.5 or 1.5e-3";
    case flaw::not_an_integer: return value + "is a whole number, as the banner says integer";
    case flaw::negative: return value + "are 0 and more, as the banner says unsigned-integer";
    case flaw::too_large: return value + "are magnitudes up to " + shortest(largest);
    case flaw::not_finite: return value + "are finite numbers";
    case flaw::trailing_text:
        return "text after the entry: " + quoted(word) + ", allowed is " + form_of_line(h);
    case flaw::one_too_many:
        return "entry " + std::to_string(h.entries + 1) + ", allowed are the " +
               std::to_string(h.entries) + " of the size line (line " +
               std::to_string(h.size_line) + ")";
    case flaw::skew_diagonal: return value + "is 0 on the diagonal of a skew-symmetric matrix";
    case flaw::comment:
        return "a comment among the entries, allowed are comments before the size line (line " +
               std::to_string(h.size_line) + ")";
    case flaw::nul: return "a NUL byte, allowed is text";
    }
    return "unknown flaw";
}

} // namespace krylith::market
