#include <krylith/matrix/numpy/array_header.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <span>
#include <system_error>

#include <krylith/device/error.hpp>
#include <krylith/matrix/market/diagnosis.hpp>
#include <krylith/matrix/numpy/python_literal.hpp>

namespace krylith::numpy {
namespace {

using files::stored_type;

constexpr std::uint64_t most_header_bytes = 1 << 16; ///< a plain array's has about 80

class header_reader {
public:
    header_reader(const binary::byte_source& file, array_header& result)
        : file_(file), result_(result) {}

    void read() {
        read_dictionary(read_text());
        if (result_.number) {
            result_.item_bytes = static_cast<std::uint64_t>(result_.number->bytes);
        }
        check_length();
    }

private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw input_error(file_.name + ": " + result_.name + ": " + what);
    }

    /// The text of the dictionary, behind the magic bytes, the version and its length.
    std::string read_text() {
        std::array<unsigned char, 12> start{};
        const std::size_t known = std::min<std::uint64_t>(start.size(), file_.bytes);
        file_.read(0, std::as_writable_bytes(std::span(start).first(known)));
        const std::string_view magic(reinterpret_cast<const char*>(start.data()),
                                     array_magic.size());
        if (known < 10 || magic != array_magic) {
            refuse("no .npy array, allowed is one that starts with \\x93NUMPY");
        }
        const int version = start[6];
        if (version < 1 || version > 3) {
            refuse("version " + std::to_string(version) +
                   " of the .npy format, allowed are 1 to 3");
        }
        const std::size_t digits = version == 1 ? 2 : 4;
        std::uint64_t length = 0;
        for (std::size_t k = digits; k > 0; --k) {
            length = length * 256 + start[8 + k - 1];
        }
        result_.begin = 8 + digits + length;
        if (length > most_header_bytes || result_.begin > file_.bytes) {
            refuse("a header of " + std::to_string(length) + " bytes, allowed are " +
                   std::to_string(std::min(most_header_bytes, file_.bytes)));
        }
        std::string text(length, '\0');
        file_.read(8 + digits, std::as_writable_bytes(std::span(text)));
        return text;
    }

    void read_dictionary(const std::string& text) {
        literal_reader literals(text);
        bool good = literals.take("{");
        bool typed = false;
        bool ordered = false;
        bool shaped = false;
        while (good && !literals.take("}")) {
            const auto key = literals.take_string();
            good = key && literals.take(":");
            if (good && *key == "descr") {
                const auto type = literals.take_string();
                if (!type) {
                    refuse("items of several fields, " + market::quoted(text) +
                           ", allowed are numbers");
                }
                read_type(*type);
                typed = true;
            } else if (good && *key == "fortran_order") {
                const auto by_columns = literals.take_bool();
                good = ordered = by_columns.has_value();
                result_.by_columns = by_columns.value_or(false);
            } else if (good && *key == "shape") {
                auto sizes = literals.take_sizes();
                good = shaped = sizes.has_value();
                result_.shape = sizes ? std::move(*sizes) : std::vector<std::uint64_t>();
            } else {
                good = false;
            }
            good = good && (literals.take(",") || literals.take("}"));
            if (good && literals.at_end()) {
                break;
            }
        }
        if (!good || !typed || !ordered || !shaped) {
            refuse("the header is " + market::quoted(text) +
                   ", allowed is {'descr': TYPE, 'fortran_order': BOOL, 'shape': SIZES}");
        }
    }

    void read_type(std::string_view type) {
        result_.type = type;
        const bool known = type.size() >= 3;
        int width = 0;
        const char* const end = type.data() + type.size();
        const auto [stop, code] =
            std::from_chars(type.data() + (known ? 2 : type.size()), end, width);
        if (known && code == std::errc() && stop == end && width >= 0 && width <= 64) {
            const bool big = type[0] == '>';
            const bool whole = width == 1 || width == 2 || width == 4 || width == 8;
            const char letter = type[1];
            if (letter == 'f' && (width == 4 || width == 8)) {
                result_.number = stored_type{stored_type::kind::real, width, big};
            } else if (letter == 'i' && whole) {
                result_.number = stored_type{stored_type::kind::signed_integer, width, big};
            } else if ((letter == 'u' && whole) || (letter == 'b' && width == 1)) {
                result_.number = stored_type{stored_type::kind::unsigned_integer, width, big};
            } else if (letter == 'S' || letter == 'U') {
                result_.item_bytes = static_cast<std::uint64_t>(letter == 'S' ? width : 4 * width);
            } else {
                refuse_type();
            }
            return;
        }
        refuse_type();
    }

    [[noreturn]] void refuse_type() const {
        refuse("items of type " + market::quoted(result_.type) +
               ", allowed are bool, int8 to int64, uint8 to uint64, float32 and float64");
    }

    void check_length() {
        const std::uint64_t left = file_.bytes - result_.begin;
        bool fits = true;
        for (const std::uint64_t size : result_.shape) {
            fits = fits && (size == 0 || result_.count <= file_.bytes / size + 1);
            result_.count = fits ? result_.count * size : result_.count;
        }
        const std::uint64_t width = std::max<std::uint64_t>(result_.item_bytes, 1);
        if (!fits || result_.count > left / width || result_.count * result_.item_bytes != left) {
            refuse(std::to_string(left) + " bytes of items, allowed are those of shape " +
                   in_words(result_.shape) + " and type " + market::quoted(result_.type) +
                   " (was the file cut off?)");
        }
    }

    const binary::byte_source& file_;
    array_header& result_;
};

} // namespace

files::stored_array array_header::numbers(const std::string& file) const {
    if (!number) {
        throw input_error(file + ": " + name + ": items of type " + market::quoted(type) +
                          ", allowed are numbers");
    }
    return {begin, count, *number, name};
}

array_header read_array_header(const binary::byte_source& file, std::string name) {
    array_header result;
    result.name = std::move(name);
    header_reader(file, result).read();
    return result;
}

std::string in_words(const std::vector<std::uint64_t>& shape) {
    std::string text = "(";
    for (const std::uint64_t size : shape) {
        text += (text.size() > 1 ? ", " : "") + std::to_string(size);
    }
    return text + (shape.size() == 1 ? ",)" : ")");
}

} // namespace krylith::numpy
