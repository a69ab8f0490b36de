#include <krylith/matrix/numpy/archive_members.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/first_failure.hpp>
#include <krylith/matrix/files/input_checks.hpp>
#include <krylith/matrix/market/diagnosis.hpp>

namespace krylith::numpy {
namespace {

constexpr std::uint64_t most_small = 1 << 12; ///< items of a text or a shape

} // namespace

archive_members::archive_members(const binary::byte_source& archive)
    : archive_(archive), members_(read_zip_directory(archive)) {}

bool archive_members::has(std::string_view name) const {
    return std::ranges::find(members_, std::string(name) + ".npy", &zip_member::name) !=
           members_.end();
}

const zip_member& archive_members::find(const std::string& name) const {
    const auto found = std::ranges::find(members_, name + ".npy", &zip_member::name);
    if (found == members_.end()) {
        std::string names;
        for (const zip_member& member : members_) {
            names += (names.empty() ? "" : " ") + member.name;
        }
        throw input_error(archive_.name + ": has no member " + name + ".npy but " +
                          market::quoted(names) +
                          ", allowed are matrices of scipy.sparse.save_npz: csr, csc and coo");
    }
    return *found;
}

std::vector<open_array> archive_members::open(const std::vector<std::string>& names) const {
    double unpacked = 0;
    std::vector<const zip_member*> members;
    for (const std::string& name : names) {
        members.push_back(&find(name));
        unpacked += members.back()->deflated ? static_cast<double>(members.back()->bytes) : 0;
    }
    files::check_memory(archive_.name, unpacked);
    std::vector<open_array> arrays(names.size());
    const auto count = static_cast<std::int64_t>(names.size());
    files::first_failure failure;
    const auto open_one = [&](std::int64_t k) {
        failure.attempt(k, [&] {
            const auto at = static_cast<std::size_t>(k);
            arrays[at].bytes = open_zip_member(archive_, *members[at]);
            arrays[at].header = read_array_header(arrays[at].bytes, members[at]->name);
        });
    };
#pragma omp parallel for schedule(dynamic, 1)
    for (std::int64_t k = 0; k < count; ++k) {
        if (members[static_cast<std::size_t>(k)]->deflated) {
            open_one(k);
        }
    }
    for (std::int64_t k = 0; k < count; ++k) { // each is read by all threads
        if (!members[static_cast<std::size_t>(k)]->deflated) {
            open_one(k);
        }
    }
    failure.rethrow();
    return arrays;
}

std::string archive_members::read_text(const std::string& name) const {
    const open_array array = open({name}).front();
    const array_header& header = array.header;
    const std::uint64_t bytes = header.count * header.item_bytes;
    if (header.number || header.count != 1 || bytes > most_small) {
        throw input_error(archive_.name + ": " + header.name + " has type " +
                          market::quoted(header.type) + " and shape " + in_words(header.shape) +
                          ", allowed is one word");
    }
    std::string raw(bytes, '\0');
    array.bytes.read(header.begin, std::as_writable_bytes(std::span(raw)));
    std::erase(raw, '\0'); // the padding, and three bytes of four of a letter of UCS-4
    return raw;
}

std::vector<std::int64_t> archive_members::read_sizes(const std::string& name) const {
    const open_array array = open({name}).front();
    if (array.header.count > most_small) {
        throw input_error(archive_.name + ": " + array.header.name + " has shape " +
                          in_words(array.header.shape) + ", allowed are two sizes");
    }
    std::vector<std::int64_t> sizes;
    files::read_numbers(array.bytes, array.header.numbers(archive_.name), sizes,
                        std::numeric_limits<std::int64_t>::max());
    return sizes;
}

} // namespace krylith::numpy
