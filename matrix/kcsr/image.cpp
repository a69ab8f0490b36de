#include <krylith/matrix/kcsr/image.hpp>

#include <algorithm>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/checksum.hpp>
#include <krylith/matrix/kcsr/damage.hpp>

namespace krylith::binary {
namespace {

template <class T>
std::span<const T> array_of(std::span<const std::byte> file, const section& part) {
    return {reinterpret_cast<const T*>(file.data() + part.begin), part.bytes / sizeof(T)};
}

/// Compares the checksums of a section's chunks with those at the front of `expected`, and removes
/// these from it.
void check_section(std::span<const std::byte> file, const std::string& name, const section& part,
                   std::span<const std::uint64_t>& expected) {
    std::vector<std::uint64_t> found(part.chunks());
    chunk_checksums(file.subspan(part.begin, part.bytes), found);
    const auto bad = std::ranges::mismatch(found, expected).in1;
    if (bad != found.end()) {
        const auto k = static_cast<std::uint64_t>(bad - found.begin());
        const std::uint64_t begin = part.begin + k * chunk_bytes;
        check_sum(name, begin, file.subspan(begin, std::min(part.end() - begin, chunk_bytes)),
                  expected[k]);
    }
    expected = expected.subspan(found.size());
}

void check_bytes(std::span<const std::byte> file, const std::string& name, const head& h) {
    const file_layout at = layout_of(h.what);
    check_table(name, at.table, file.subspan(at.table.begin, at.table.bytes), h.table_checksum);
    auto expected = array_of<std::uint64_t>(file, at.table);
    std::uint64_t end = at.table.end();
    for (const section& part : {at.row_offsets, at.column_indices, at.values}) {
        check_gap(name, end, file.subspan(end, part.begin - end));
        check_section(file, name, part, expected);
        end = part.end();
    }
}

} // namespace

image open_image(std::span<const std::byte> file, const std::string& name, file_check check) {
    const head h = decode(file, file.size(), name);
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
            throw input_error(name + ": " + offence.what());
        }
    }
    return result;
}

} // namespace krylith::binary
