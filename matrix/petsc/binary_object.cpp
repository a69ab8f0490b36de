#include <krylith/matrix/petsc/binary_object.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/input_checks.hpp>
#include <krylith/matrix/petsc/class_ids.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::petsc {
namespace {

using files::stored_type;

stored_type integers(int bytes) {
    return {stored_type::kind::signed_integer, bytes, true};
}

/// A number of the file, at its place.
class reader {
public:
    reader(const binary::byte_source& file, std::int64_t memory) : file_(file), memory_(memory) {}

    binary_object find(object_kind kind) {
        std::uint64_t at = 0;
        int objects = 0;
        for (; at < file_.bytes; ++objects) {
            binary_object object = read_object(at);
            if (object.kind == kind) {
                return object;
            }
            at = object.end;
        }
        refuse("holds " + std::to_string(objects) + " object" + (objects == 1 ? "" : "s") +
               " of PETSc, and no " + (kind == object_kind::matrix ? "matrix" : "vector") +
               ", allowed is a file with one");
    }

private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw input_error(file_.name + ": " + what);
    }

    [[noreturn]] void refuse_at(std::uint64_t byte, const std::string& what) const {
        refuse("the object at byte " + std::to_string(byte) + " " + what);
    }

    /// The class at a byte, as 32 or 64 bits; 0 where there is none.
    std::int64_t class_at(std::uint64_t at, int& width) const {
        std::array<char, 8> bytes{};
        const std::uint64_t length = std::min<std::uint64_t>(bytes.size(), file_.bytes - at);
        file_.read(at, std::as_writable_bytes(std::span(bytes).first(length)));
        return class_of({bytes.data(), length}, width);
    }

    std::vector<std::int64_t> numbers(std::uint64_t begin, std::uint64_t count, int width,
                                      const char* name, std::int64_t most) const {
        std::vector<std::int64_t> result;
        files::read_numbers(file_, {begin, count, integers(width), name}, result, most);
        return result;
    }

    binary_object read_object(std::uint64_t begin) const {
        binary_object object;
        const std::int64_t id = class_at(begin, object.index_bytes);
        if (id != matrix_class && id != vector_class) {
            refuse("byte " + std::to_string(begin) +
                   " begins no object of PETSc, allowed are matrices (class 1211216) and vectors "
                   "(1211214)");
        }
        const auto width = static_cast<std::uint64_t>(object.index_bytes);
        object.kind = id == matrix_class ? object_kind::matrix : object_kind::vector;
        const std::uint64_t sizes = object.kind == object_kind::matrix ? 3 : 1;
        object.begin = begin + (1 + sizes) * width;
        if (object.begin > file_.bytes) {
            refuse_at(begin, "ends within its sizes, allowed is a complete file");
        }
        object.kind == object_kind::matrix ? read_matrix(object, begin)
                                           : read_vector(object, begin);
        return object;
    }

    void read_vector(binary_object& object, std::uint64_t begin) const {
        object.rows = numbers(begin + as_size(object.index_bytes), 1, object.index_bytes,
                              "a length", std::numeric_limits<std::int64_t>::max())
                          .front();
        object.entries = static_cast<std::uint64_t>(object.rows);
        find_value_bytes(object, begin, 0);
    }

    void read_matrix(binary_object& object, std::uint64_t begin) const {
        const int width = object.index_bytes;
        const std::uint64_t first = begin + as_size(width);
        const auto sizes = numbers(first, 2, width, "the sizes of a matrix",
                                   std::numeric_limits<std::int64_t>::max());
        object.rows = sizes[0];
        object.columns = sizes[1];
        check_index_size(file_.name + ": columns", object.columns);
        std::array<std::byte, 1> sign{}; // of the number of nonzeros
        file_.read(first + 2 * as_size(width), sign);
        if ((sign[0] & std::byte{0x80}) != std::byte{0}) {
            refuse_at(begin, "is a dense matrix, allowed are sparse ones (MATAIJ)");
        }
        const std::int64_t nonzeros =
            numbers(first + 2 * as_size(width), 1, width, "the number of nonzeros",
                    std::numeric_limits<std::int64_t>::max())
                .front();
        const std::uint64_t left = file_.bytes - object.begin;
        if (static_cast<std::uint64_t>(object.rows) > left / as_size(width)) {
            refuse_at(begin, "is a matrix of " + std::to_string(object.rows) + " rows, " +
                                 std::to_string(left) + " bytes are left, allowed are " +
                                 std::to_string(width) + " a row and more");
        }
        files::check_memory(file_.name, 16.0 * static_cast<double>(object.rows), memory_);
        object.row_offsets = numbers(object.begin, as_size(object.rows), width, "lengths of rows",
                                     std::int64_t{1} << 32);
        object.row_offsets.insert(object.row_offsets.begin(), 0);
        std::partial_sum(object.row_offsets.begin(), object.row_offsets.end(),
                         object.row_offsets.begin());
        object.begin += as_size(object.rows) * as_size(width);
        // Integers of 32 bits can't hold more nonzeros than this: PETSc then writes their largest.
        const bool beyond = width == 4 && nonzeros == std::numeric_limits<std::int32_t>::max();
        const std::int64_t found = object.row_offsets.back();
        if (found < 0 || (found != nonzeros && !(beyond && found > nonzeros))) {
            refuse_at(begin, "is a matrix whose rows have " + std::to_string(found) +
                                 " nonzeros, allowed are the " + std::to_string(nonzeros) +
                                 " of its sizes");
        }
        object.entries = static_cast<std::uint64_t>(found);
        find_value_bytes(object, begin, as_size(width));
    }

    /// Numbers are as wide as makes the object end with the file, or before another one.
    void find_value_bytes(binary_object& object, std::uint64_t begin, std::uint64_t each) const {
        const std::uint64_t left = file_.bytes - object.begin;
        constexpr std::array<int, 3> widths = {8, 4, 16};
        for (const int width : widths) {
            const std::uint64_t bytes = each + as_size(width);
            if (object.entries > left / bytes) {
                continue;
            }
            object.end = object.begin + object.entries * bytes;
            int ignored = 0;
            if (object.end == file_.bytes || class_at(object.end, ignored) != 0) {
                object.value_bytes = width;
                if (width == 16) {
                    refuse_at(begin, "has numbers of 16 bytes, which are complex or quadruple, "
                                     "allowed are real ones of 8 or 4");
                }
                return;
            }
        }
        refuse_at(
            begin,
            "has " + std::to_string(object.entries) + " numbers for which " + std::to_string(left) +
                " bytes are left, allowed are 8 (or, in single precision, 4) bytes a "
                "number" +
                (each > 0 ? ", and " + std::to_string(each) + " a column index" : std::string()) +
                " (was the file cut off?)");
    }

    const binary::byte_source& file_;
    std::int64_t memory_;
};

} // namespace

files::stored_array binary_object::column_indices() const {
    return {begin, entries, integers(index_bytes), "column indices"};
}

files::stored_array binary_object::values() const {
    const std::uint64_t indices = kind == object_kind::matrix ? as_size(index_bytes) : 0;
    return {
        begin + entries * indices, entries, {stored_type::kind::real, value_bytes, true}, "values"};
}

bool is_binary_object(std::string_view beginning) noexcept {
    int ignored = 0;
    return class_of(beginning, ignored) != 0;
}

binary_object find_object(const binary::byte_source& file, object_kind kind, std::int64_t memory) {
    return reader(file, memory).find(kind);
}

} // namespace krylith::petsc
