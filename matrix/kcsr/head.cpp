#include <krylith/matrix/kcsr/head.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/checksum.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::binary {
namespace {

/// The head as it lies in the file; every member is at a multiple of its size, so there are no
/// gaps.
struct stored_head {
    std::array<char, 8> magic;
    std::uint32_t byte_order;
    std::uint32_t version;
    std::uint32_t type;
    std::uint32_t reserved;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t nnz;
    std::uint64_t table_begin;
    std::uint64_t row_offsets_begin;
    std::uint64_t column_indices_begin;
    std::uint64_t values_begin;
    std::uint64_t file_bytes;
    std::array<std::uint64_t, 3> also_reserved;
    std::uint64_t table_checksum;
    std::uint64_t head_checksum; ///< covers all bytes before it
};
static_assert(sizeof(stored_head) == head_bytes);

constexpr std::uint64_t aligned(std::uint64_t position) noexcept {
    return (position + alignment - 1) / alignment * alignment;
}

stored_head stored(const head& h) {
    const file_layout at = layout_of(h.what);
    stored_head s{};
    magic.copy(s.magic.data(), s.magic.size());
    s.byte_order = byte_order_mark;
    s.version = current_version;
    s.type = static_cast<std::uint32_t>(h.what.type);
    s.rows = h.what.rows;
    s.columns = h.what.columns;
    s.nnz = h.what.nnz;
    s.table_begin = at.table.begin;
    s.row_offsets_begin = at.row_offsets.begin;
    s.column_indices_begin = at.column_indices.begin;
    s.values_begin = at.values.begin;
    s.file_bytes = at.file_bytes;
    s.table_checksum = h.table_checksum;
    const auto bytes = std::as_bytes(std::span(&s, 1));
    s.head_checksum = checksum(bytes.first(offsetof(stored_head, head_checksum)));
    return s;
}

/// The stored head, after the checks that make the rest readable, in the order that a reader needs.
stored_head readable(std::span<const std::byte> file, const std::string& name) {
    const auto refuse = [&](const std::string& what) { throw input_error(name + ": " + what); };
    if (file.empty()) {
        refuse("is empty, a binary CSR file has at least " + std::to_string(head_bytes) + " bytes");
    }
    if (file.size() < magic.size() || std::memcmp(file.data(), magic.data(), magic.size()) != 0) {
        refuse("doesn't start as a binary CSR file (.kcsr) does");
    }
    if (file.size() < head_bytes) {
        refuse("has " + std::to_string(file.size()) + " bytes, a binary CSR file has at least " +
               std::to_string(head_bytes) + ": it was cut off");
    }
    stored_head s;
    std::memcpy(&s, file.data(), head_bytes);
    if (s.byte_order == 0x04030201) {
        refuse("was written by a machine of the other byte order, allowed is that of this one");
    }
    if (s.byte_order != byte_order_mark) {
        refuse("has the byte order mark " + std::to_string(s.byte_order) + ", allowed is " +
               std::to_string(byte_order_mark));
    }
    if (s.version != current_version) {
        refuse("is of version " + std::to_string(s.version) + " of the format, allowed is " +
               std::to_string(current_version));
    }
    const std::uint64_t found = checksum(file.first(offsetof(stored_head, head_checksum)));
    if (found != s.head_checksum) {
        refuse("the head (bytes 0 to 127) is damaged: its checksum is " + std::to_string(found) +
               ", allowed is " + std::to_string(s.head_checksum));
    }
    return s;
}

} // namespace

file_layout layout_of(const contents& what) noexcept {
    file_layout at;
    at.row_offsets.bytes = (static_cast<std::uint64_t>(what.rows) + 1) * sizeof(std::int64_t);
    at.column_indices.bytes = static_cast<std::uint64_t>(what.nnz) * sizeof(std::int32_t);
    at.values.bytes = static_cast<std::uint64_t>(what.nnz) * bytes_of(what.type);
    at.table.begin = head_bytes;
    at.table.bytes = (at.row_offsets.chunks() + at.column_indices.chunks() + at.values.chunks()) *
                     sizeof(std::uint64_t);
    at.row_offsets.begin = aligned(at.table.end());
    at.column_indices.begin = aligned(at.row_offsets.end());
    at.values.begin = aligned(at.column_indices.end());
    at.file_bytes = at.values.end();
    return at;
}

void encode(const head& h, std::span<std::byte, head_bytes> place) {
    const stored_head s = stored(h);
    std::memcpy(place.data(), &s, head_bytes);
}

head decode(std::span<const std::byte> file, std::uint64_t file_bytes, const std::string& name) {
    const stored_head s = readable(file, name);
    const auto refuse = [&](const std::string& what) { throw input_error(name + ": " + what); };
    const auto check_size = [&](const char* what, std::int64_t size, std::int64_t limit) {
        if (size < 0 || size > limit) {
            refuse(std::string(what) + " is " + std::to_string(size) + ", allowed are 0 to " +
                   std::to_string(limit));
        }
    };
    if (s.type != static_cast<std::uint32_t>(value_type::fp64) &&
        s.type != static_cast<std::uint32_t>(value_type::fp32)) {
        refuse("the type of the values is " + std::to_string(s.type) +
               ", allowed are 1 (fp64) and 2 (fp32)");
    }
    check_size("rows", s.rows, size_limit);
    check_size("columns", s.columns, index_size_limit());
    check_size("nnz", s.nnz, size_limit);
    const head h{{static_cast<value_type>(s.type), s.rows, s.columns, s.nnz}, s.table_checksum};
    const stored_head expected = stored(h);
    if (file_bytes != expected.file_bytes) {
        refuse("has " + std::to_string(file_bytes) + " bytes, allowed are the " +
               std::to_string(expected.file_bytes) + " that " + std::to_string(s.rows) +
               " rows and " + std::to_string(s.nnz) +
               " nonzeros take: it was cut off or appended to");
    }
    // Only positions of sections and reserved bytes can still differ.
    if (std::memcmp(&s, &expected, head_bytes) != 0) {
        refuse("the head gives other positions of the arrays than its sizes imply, or uses bytes "
               "that must be 0");
    }
    return h;
}

} // namespace krylith::binary
