#include <krylith/matrix/rutherford_boeing/fortran_format.hpp>

#include <cctype>
#include <cstddef>
#include <string>

namespace krylith::rutherford_boeing {
namespace {

constexpr int longest_line = 1 << 16;
constexpr int most_levels = 8;      ///< of parentheses
constexpr int most_items = 1 << 17; ///< with their repetitions

class parser {
public:
    explicit parser(std::string_view text) {
        for (const char c : text) {
            if (c != ' ' && c != '\t') {
                text_ += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            }
        }
    }

    std::optional<fortran_format> parse() {
        if (!take('(') || !read_group(0) || at_ != text_.size() || result_.fields.empty()) {
            return std::nullopt;
        }
        return result_;
    }

private:
    [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    bool take(char c) {
        const bool there = next() == c;
        at_ += there ? 1 : 0;
        return there;
    }

    /// A whole number without sign; -1 where there is none.
    int take_number() {
        if (next() < '0' || next() > '9') {
            return -1;
        }
        int number = 0;
        while (next() >= '0' && next() <= '9') {
            number = number * 10 + (text_[at_++] - '0');
            if (number > longest_line) {
                return longest_line + 1; // which no line has room for
            }
        }
        return number;
    }

    /// The items up to the closing parenthesis.
    bool read_group(int level) {
        if (level > most_levels) {
            return false;
        }
        while (!take(')')) {
            if (!take(',') && !read_item(level)) {
                return false;
            }
        }
        return true;
    }

    bool read_item(int level) {
        if (++items_ > most_items) {
            return false;
        }
        const bool negative = take('-');
        const int number = take_number();
        if (take('P')) {
            result_.scale = negative ? -number : number;
            return number >= 0 && number <= 99;
        }
        const int repeat = number < 0 ? 1 : number;
        if (negative || repeat > longest_line) {
            return false;
        }
        if (take('(')) {
            return repeat_group(repeat, level);
        }
        if (take('X')) {
            return advance(repeat);
        }
        return read_numbers(repeat);
    }

    bool repeat_group(int repeat, int level) {
        const std::size_t begin = at_;
        for (int k = 0; k < repeat; ++k) {
            at_ = begin;
            if (++items_ > most_items || !read_group(level + 1)) {
                return false;
            }
        }
        return repeat > 0;
    }

    bool advance(int characters) {
        column_ += characters;
        return column_ <= longest_line;
    }

    /// A letter, a width, the digits behind the point and those of the exponent.
    bool read_numbers(int repeat) {
        const char letter = next();
        const bool real = letter == 'E' || letter == 'D' || letter == 'F' || letter == 'G';
        if (!real && letter != 'I') {
            return false;
        }
        ++at_;
        const int width = take_number();
        const int decimals = take('.') ? take_number() : 0;
        if (real && take('E') && take_number() < 0) {
            return false;
        }
        const bool mixed = !result_.fields.empty() && real != result_.real;
        if (mixed || width < 1 || decimals < 0 || decimals > width) {
            return false;
        }
        result_.real = real;
        result_.decimals = decimals;
        for (int k = 0; k < repeat; ++k) {
            result_.fields.push_back({column_, width});
            if (!advance(width)) {
                return false;
            }
        }
        return true;
    }

    std::string text_; ///< in capitals, without blanks
    std::size_t at_ = 0;
    int column_ = 0;
    int items_ = 0;
    fortran_format result_;
};

} // namespace

std::optional<fortran_format> parse_fortran_format(std::string_view text) {
    return parser(text).parse();
}

} // namespace krylith::rutherford_boeing
