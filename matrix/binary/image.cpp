#include <krylith/matrix/binary/image.hpp>

#include <algorithm>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/binary/checksum.hpp>

namespace krylith::binary {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
    throw input_error(name + ": " + what);
}

std::string range(std::uint64_t begin, std::uint64_t end) {
    return "bytes " + std::to_string(begin) + " to " + std::to_string(end - 1);
}

template <class T>
std::span<const T> array_of(std::span<const std::byte> file, const section& part) {
    return {reinterpret_cast<const T*>(file.data() + part.begin), part.bytes / sizeof(T)};
}

/// Compares the checksums of a section's chunks with those at the front of `expected`, and takes
/// these away.
void check_section(std::span<const std::byte> file, const std::string& name, const section& part,
                   std::span<const std::uint64_t>& expected) {
    std::vector<std::uint64_t> found(part.chunks());
    chunk_checksums(file.subspan(part.begin, part.bytes), found);
    const auto bad = std::ranges::mismatch(found, expected).in1;
    if (bad != found.end()) {
        const auto k = static_cast<std::uint64_t>(bad - found.begin());
        const std::uint64_t begin = part.begin + k * chunk_bytes;
        refuse(name, range(begin, std::min(part.end(), begin + chunk_bytes)) +
                         " are damaged: their checksum is " + std::to_string(*bad) +
                         ", allowed is " + std::to_string(expected[k]));
    }
    expected = expected.subspan(found.size());
}

/// Between the sections there are zeros, so that all bytes are vouched for.
void check_gap(std::span<const std::byte> file, const std::string& name, std::uint64_t begin,
               std::uint64_t end) {
    for (std::uint64_t k = begin; k < end; ++k) {
        if (file[k] != std::byte{0}) {
            refuse(name, "byte " + std::to_string(k) + ", between two arrays, is " +
                             std::to_string(std::to_integer<int>(file[k])) + ", allowed is 0");
        }
    }
}

void check_bytes(std::span<const std::byte> file, const std::string& name, const head& h) {
    const file_layout at = layout_of(h.what);
    const auto table = file.subspan(at.table.begin, at.table.bytes);
    if (const std::uint64_t found = checksum(table); found != h.table_checksum) {
        refuse(name, range(at.table.begin, at.table.end()) +
                         " (the checksums) are damaged: their checksum is " +
                         std::to_string(found) + ", allowed is " +
                         std::to_string(h.table_checksum));
    }
    auto expected = array_of<std::uint64_t>(file, at.table);
    check_gap(file, name, at.table.end(), at.row_offsets.begin);
    check_section(file, name, at.row_offsets, expected);
    check_gap(file, name, at.row_offsets.end(), at.column_indices.begin);
    check_section(file, name, at.column_indices, expected);
    check_gap(file, name, at.column_indices.end(), at.values.begin);
    check_section(file, name, at.values, expected);
}

} // namespace

image open_image(std::span<const std::byte> file, const std::string& name, file_check check) {
    const head h = decode(file, name);
    if (check.checksums) {
        check_bytes(file, name, h);
    }
    const file_layout at = layout_of(h.what);
    const image result{h.what, array_of<std::int64_t>(file, at.row_offsets),
                       array_of<std::int32_t>(file, at.column_indices),
                       file.subspan(at.values.begin, at.values.bytes)};
    if (check.matrix) {
        try {
            h.what.type == value_type::fp64 ? validate(result.view<double>())
                                            : validate(result.view<float>());
        } catch (const input_error& offence) {
            refuse(name, offence.what());
        }
    }
    return result;
}

} // namespace krylith::binary
