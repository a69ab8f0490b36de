#include <krylith/matrix/market/header.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <krylith/matrix/files/small_letters.hpp>
#include <krylith/matrix/market/diagnosis.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::market {
namespace {

constexpr std::string_view banner_form =
    "%%MatrixMarket matrix coordinate|array real|integer|unsigned-integer|pattern "
    "general|symmetric|skew-symmetric";

constexpr std::array<std::string_view, 1> object_names{"matrix"};
constexpr std::array<std::string_view, 2> layout_names{"coordinate", "array"};
constexpr std::array<std::string_view, 4> field_names{"real", "integer", "pattern",
                                                      "unsigned-integer"};
constexpr std::array<std::string_view, 3> symmetry_names{"general", "symmetric", "skew-symmetric"};

std::vector<std::string_view> words(std::string_view line) {
    std::vector<std::string_view> result;
    for (;;) {
        const std::size_t begin = line.find_first_not_of(" \t");
        if (begin == std::string_view::npos) {
            return result;
        }
        line.remove_prefix(begin);
        const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
        result.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
}

bool is_digits(std::string_view word) {
    return word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The reading of one header: the source, and its next line without the carriage return of CR LF.
class header_reader {
public:
    header_reader(line_source& source, expected_shape shape) : source_(source), shape_(shape) {}

    header read() {
        header result;
        if (read_banner(result)) {
            read_sizes(result);
        }
        return result;
    }

private:
    [[noreturn]] void refuse_line(const std::string& what) const {
        refuse(source_.name(), source_.lines_taken(), what);
    }

    bool take_line(std::string_view& line) {
        if (!source_.take_line(line)) {
            return false;
        }
        if (!line.empty() && line.back() == '\r') {
            line.remove_suffix(1);
        }
        return true;
    }

    /// Reads the banner. Returns false for a plain vector, whose first line is the length.
    bool read_banner(header& result) {
        std::string_view line;
        if (!take_line(line)) {
            refuse(source_.name(), 1,
                   "the file is empty, allowed is a file that starts with " +
                       quoted("%%MatrixMarket"));
        }
        refuse_encodings(line);
        const auto parts = words(line);
        if (shape_ == expected_shape::vector && parts.size() == 1 && is_digits(parts[0])) {
            result.layout = layout::array;
            set_vector_sizes(result, parts[0]);
            return false;
        }
        // Fortran's lists begin with a blank: MUMPS writes so.
        if (parts.empty() || files::small_letters(parts[0]) != "%%matrixmarket") {
            refuse_line("no banner but " + quoted(line) + ", allowed is " +
                        std::string(banner_form));
        }
        if (parts.size() != 5) {
            refuse_line("a banner of " + std::to_string(parts.size()) + " words, " + quoted(line) +
                        ", allowed are the 5 words " + std::string(banner_form));
        }
        choose("object", parts[1], object_names);
        result.layout = static_cast<layout>(choose("format", parts[2], layout_names));
        result.field = static_cast<field>(choose("field", parts[3], field_names));
        result.symmetry = static_cast<symmetry>(choose("symmetry", parts[4], symmetry_names));
        if (result.field == field::pattern && result.layout == layout::array) {
            refuse_line("a pattern array has no values, allowed with pattern is coordinate");
        }
        if (result.field == field::pattern && result.symmetry == symmetry::skew_symmetric) {
            refuse_line("a skew-symmetric pattern has no signs, allowed with pattern are general "
                        "and symmetric");
        }
        return true;
    }

    void refuse_encodings(std::string_view line) const {
        if (line.starts_with("\xef\xbb\xbf")) {
            refuse_line("the file starts with a UTF-8 byte order mark, " + quoted(line) +
                        ", allowed is " + quoted("%%MatrixMarket") + " from the first byte on");
        }
        if (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff")) {
            refuse_line("the file is UTF-16, " + quoted(line) + ", allowed is plain ASCII");
        }
        if (line.find('\r') != std::string_view::npos) {
            refuse_line("lines end with CR alone, " + quoted(line) + ", allowed are LF and CR LF");
        }
    }

    /// The position of the word among the names, in any case.
    std::size_t choose(const char* what, std::string_view word,
                       std::span<const std::string_view> names) const {
        const auto found = std::ranges::find(names, files::small_letters(word));
        if (found != names.end()) {
            return static_cast<std::size_t>(found - names.begin());
        }
        std::string allowed;
        for (const std::string_view name : names) {
            allowed += (allowed.empty() ? "" : ", ") + std::string(name);
        }
        refuse_line(std::string("the banner's ") + what + " is " + quoted(word) +
                    ", allowed: " + allowed);
    }

    void read_sizes(header& result) {
        const bool array = result.layout == layout::array;
        const std::string form = array ? "ROWS COLUMNS" : "ROWS COLUMNS ENTRIES";
        std::string_view line;
        std::vector<std::string_view> numbers;
        while (numbers.empty()) {
            if (!take_line(line)) {
                refuse(source_.name(), source_.lines_taken() + 1,
                       "the file ends before its size line, allowed is " + form);
            }
            refuse_nul(line);
            numbers = words(line);
            if (!numbers.empty() && numbers.front().starts_with('%')) {
                take_amgx_options(result, numbers);
                numbers.clear();
            }
        }
        if (shape_ == expected_shape::vector && array && numbers.size() == 1 &&
            result.symmetry == symmetry::general) {
            return set_vector_sizes(result, numbers[0]);
        }
        if (numbers.size() != (array ? 2 : 3)) {
            refuse_line("a size line of " + std::to_string(numbers.size()) + " words, " +
                        quoted(line) + ", allowed is " + form);
        }
        result.size_line = source_.lines_taken();
        result.rows = size("rows", numbers[0], index_size_limit());
        result.columns = size("columns", numbers[1], index_size_limit());
        if (result.symmetry != symmetry::general && result.rows != result.columns) {
            refuse_line(std::to_string(result.rows) + " rows and " +
                        std::to_string(result.columns) +
                        " columns, allowed with symmetric and skew-symmetric are equal sizes");
        }
        result.entries =
            array ? array_entries(result) : size("entries", numbers[2], std::int64_t{1} << 62);
        // Entries may be more than places elsewhere: assembled files have several for one place.
        if (result.entries > 0 && (result.rows == 0 || result.columns == 0)) {
            refuse_line(std::to_string(result.entries) + " entries in " +
                        std::to_string(result.rows) + " rows and " +
                        std::to_string(result.columns) + " columns, allowed are 0");
        }
    }

    /// Obeys a comment such as "%%AMGX 1 1 sorted base0"; sizes of blocks change nothing in the
    /// entries, and entries may be sorted or not.
    void take_amgx_options(header& result, const std::vector<std::string_view>& comment) const {
        const std::string name = files::small_letters(comment.front());
        if (name != "%%amgx" && name != "%%nvamg") {
            return;
        }
        for (const std::string_view word : comment) {
            const std::string option = files::small_letters(word);
            if (option == "diagonal") {
                refuse_line("AmgX's option " + quoted(word) +
                            " says that the diagonal follows the entries, allowed are entries "
                            "with the diagonal among them");
            }
            result.first_index = option == "base0" ? 0 : result.first_index;
            result.vectors_follow =
                result.vectors_follow || option == "rhs" || option == "solution";
        }
    }

    void set_vector_sizes(header& result, std::string_view word) const {
        result.size_line = source_.lines_taken();
        result.rows = size("rows", word, index_size_limit());
        result.columns = 1;
        result.entries = result.rows;
    }

    void refuse_nul(std::string_view line) const {
        if (line.find('\0') != std::string_view::npos) {
            refuse_line("a NUL byte in " + quoted(line) + ", allowed is text");
        }
    }

    std::int64_t size(const char* what, std::string_view word, std::int64_t most) const {
        std::int64_t number = -1;
        const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (code != std::errc() || stop != word.data() + word.size() || number < 0 ||
            number > most) {
            refuse_line(std::string("the number of ") + what + " is " + quoted(word) +
                        ", allowed are whole numbers from 0 to " + std::to_string(most));
        }
        return number;
    }

    /// The number of values of an array, which lists whole columns, or what lies on or below (skew:
    /// below) the diagonal.
    static std::int64_t array_entries(const header& h) {
        switch (h.symmetry) {
        case symmetry::symmetric: return h.rows * (h.rows + 1) / 2;
        case symmetry::skew_symmetric: return h.rows * (h.rows - 1) / 2;
        case symmetry::general: break;
        }
        return h.rows * h.columns;
    }

    line_source& source_;
    expected_shape shape_;
};

} // namespace

std::string_view name_of(layout l) {
    return layout_names[static_cast<std::size_t>(l)];
}

std::string_view name_of(field f) {
    return field_names[static_cast<std::size_t>(f)];
}

std::string_view name_of(symmetry s) {
    return symmetry_names[static_cast<std::size_t>(s)];
}

header read_header(line_source& source, expected_shape shape) {
    return header_reader(source, shape).read();
}

} // namespace krylith::market
