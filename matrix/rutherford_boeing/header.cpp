#include <krylith/matrix/rutherford_boeing/header.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <krylith/matrix/market/diagnosis.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::rutherford_boeing {
namespace {

/// The type in capitals; empty where a line doesn't begin with one.
std::string type_of(std::string_view line) {
    constexpr std::size_t letters = 3;
    std::string type(line.substr(0, letters));
    std::ranges::transform(type, type.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const auto among = [](std::string_view all, char c) {
        return all.find(c) != std::string_view::npos;
    };
    const bool good = type.size() == letters && among("RCIPQX", type[0]) &&
                      among("SUHZR", type[1]) && among("AE", type[2]) &&
                      (line.size() == letters || line[letters] == ' ');
    return good ? type : std::string();
}

/// The whole numbers of a line, up to the first word that is none, and to column 72: what follows
/// is the number of the line.
std::vector<std::int64_t> numbers_of(std::string_view line) {
    line = line.substr(0, number_column);
    std::vector<std::int64_t> numbers;
    for (;;) {
        const std::size_t begin = line.find_first_not_of(" \t");
        if (begin == std::string_view::npos) {
            return numbers;
        }
        line.remove_prefix(begin);
        std::int64_t number = 0;
        const auto [end, code] = std::from_chars(line.data(), line.data() + line.size(), number);
        if (code != std::errc()) {
            return numbers;
        }
        numbers.push_back(number);
        line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    }
}

/// Takes the next text in parentheses, with those inside it.
std::string_view take_parentheses(std::string_view& line) {
    const std::size_t begin = std::min(line.find('('), line.size());
    int open = 0;
    std::size_t end = begin;
    while (end < line.size()) {
        open += line[end] == '(' ? 1 : line[end] == ')' ? -1 : 0;
        ++end;
        if (open == 0) {
            break;
        }
    }
    const std::string_view text = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return text;
}

class header_reader {
public:
    explicit header_reader(market::line_source& source) : source_(source) {}

    header read() {
        static_cast<void>(take_line("the title"));
        const auto cards = numbers_of(take_line("the numbers of lines"));
        read_type(take_line("the type and the sizes"));
        read_formats(take_line("the formats"));
        // In the elder format a fifth number counts the lines of right-hand sides, and then a line
        // describes them. They stand behind the matrix, and aren't read.
        if (cards.size() == 5 && cards[4] > 0) {
            static_cast<void>(take_line("the right-hand sides"));
        }
        return result_;
    }

private:
    [[noreturn]] void refuse(const std::string& what) const {
        market::refuse(source_.name(), source_.lines_taken(), what);
    }

    std::string_view take_line(const char* what) {
        std::string_view line;
        if (!source_.take_line(line)) {
            market::refuse(source_.name(), source_.lines_taken() + 1,
                           std::string("the file ends before ") + what +
                               ", allowed is a whole Rutherford-Boeing file");
        }
        if (line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        return line;
    }

    void read_type(std::string_view line) {
        const std::string type = type_of(line);
        if (type.empty()) {
            refuse("no type of a matrix but " + market::quoted(line.substr(0, 3)) +
                   ", allowed are r, i or p, then s, u, z or r, then a, such as RSA");
        }
        if (type[0] != 'R' && type[0] != 'I' && type[0] != 'P') {
            refuse("a matrix of type " + type +
                   ", allowed are r (real), i (integer) and p (pattern) as the first letter");
        }
        if (type[1] == 'H') {
            refuse("a Hermitian matrix, type " + type +
                   ", allowed are s (symmetric), u (unsymmetric), z (skew) and r (rectangular)");
        }
        if (type[2] == 'E') {
            refuse("a matrix of elements, type " + type + ", allowed are assembled ones (a)");
        }
        result_.values_are = type[0] == 'R'   ? value_kind::real
                             : type[0] == 'I' ? value_kind::integer
                                              : value_kind::pattern;
        result_.symmetry = type[1] == 'S'   ? symmetry::symmetric
                           : type[1] == 'Z' ? symmetry::skew
                           : type[1] == 'R' ? symmetry::rectangular
                                            : symmetry::unsymmetric;
        read_sizes(line);
    }

    void read_sizes(std::string_view line) {
        const auto sizes = numbers_of(line.substr(3));
        if (sizes.size() < 3 || std::ranges::any_of(sizes, [](auto size) { return size < 0; })) {
            refuse("the sizes are " + market::quoted(line.substr(3)) +
                   ", allowed are rows, columns and entries, 0 or more");
        }
        result_.rows = sizes[0];
        result_.columns = sizes[1];
        result_.entries = sizes[2];
        const bool square =
            result_.symmetry == symmetry::symmetric || result_.symmetry == symmetry::skew;
        if (result_.rows > index_size_limit() || result_.columns > index_size_limit()) {
            refuse(std::to_string(result_.rows) + " rows and " + std::to_string(result_.columns) +
                   " columns, allowed are up to " + std::to_string(index_size_limit()));
        }
        if (square && result_.rows != result_.columns) {
            refuse("a symmetric or skew matrix of " + std::to_string(result_.rows) + " rows and " +
                   std::to_string(result_.columns) + " columns, allowed are as many");
        }
    }

    void read_formats(std::string_view line) {
        const std::string whole(line);
        const auto next = [&](const char* what, std::int64_t count, bool real) {
            const std::string text(take_parentheses(line));
            const auto format = parse_fortran_format(text);
            if (!format || (format->real && !real)) {
                refuse(std::string("the format of ") + what + " is " + market::quoted(text) +
                       " in " + market::quoted(whole) + ", allowed are those like " +
                       (real ? "(4E20.12), (1P,3D25.16) or (20F4.1)" : "(16I5)"));
            }
            return section{*format, count};
        };
        result_.pointers = next("the column pointers", result_.columns + 1, false);
        result_.indices = next("the row indices", result_.entries, false);
        if (result_.values_are != value_kind::pattern) {
            result_.values = next("the values", result_.entries, true);
        } else {
            result_.values = {result_.indices.format, 0};
        }
    }

    market::line_source& source_;
    header result_;
};

} // namespace

bool has_header(std::string_view beginning) {
    std::array<std::string_view, 4> lines;
    for (std::string_view& line : lines) {
        const std::size_t end = beginning.find('\n');
        if (end == std::string_view::npos && &line != &lines.back()) {
            return false;
        }
        line = beginning.substr(0, end);
        beginning.remove_prefix(end == std::string_view::npos ? beginning.size() : end + 1);
    }
    const std::size_t first = lines[3].find_first_not_of(' ');
    return !type_of(lines[2]).empty() && first != std::string_view::npos && lines[3][first] == '(';
}

header read_header(market::line_source& source) {
    return header_reader(source).read();
}

} // namespace krylith::rutherford_boeing
