#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/market/diagnosis.hpp>
#include <krylith/matrix/numpy/zip_archive.hpp>

namespace krylith::numpy {
namespace {

constexpr std::size_t end_bytes = 22; ///< the record at the end, without its comment
constexpr std::size_t entry_bytes = 46;
constexpr std::uint64_t most_comment = 0xffff;

/// A number of that many bytes, little endian; the text must have them.
std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t width) {
    std::uint64_t value = 0;
    for (std::size_t k = width; k > 0; --k) {
        value = value * 256 + static_cast<unsigned char>(bytes[at + k - 1]);
    }
    return value;
}

class directory_reader {
public:
    explicit directory_reader(const binary::byte_source& archive) : archive_(archive) {}

    std::vector<zip_member> read() {
        find_end();
        if (begin_ > archive_.bytes || bytes_ > archive_.bytes - begin_ ||
            members_ > bytes_ / entry_bytes) {
            refuse("the directory of the archive lies at byte " + std::to_string(begin_) +
                   " and has " + std::to_string(bytes_) + " bytes for " + std::to_string(members_) +
                   " members, allowed is one inside of the file");
        }
        const std::string text = bytes(begin_, bytes_);
        std::string_view rest = text;
        std::vector<zip_member> members;
        for (std::uint64_t k = 0; k < members_; ++k) {
            members.push_back(take_member(rest));
        }
        return members;
    }

private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw input_error(archive_.name + ": " + what);
    }

    std::string bytes(std::uint64_t begin, std::uint64_t count) const {
        std::string text(count, '\0');
        archive_.read(begin, std::as_writable_bytes(std::span(text)));
        return text;
    }

    void find_end() {
        const std::uint64_t length = std::min(archive_.bytes, end_bytes + most_comment);
        const std::uint64_t first = archive_.bytes - length;
        const std::string tail = bytes(first, length);
        std::size_t at = tail.rfind("PK\x05\x06");
        while (at != std::string::npos && at + end_bytes > tail.size()) {
            at = at == 0 ? std::string::npos : tail.rfind("PK\x05\x06", at - 1);
        }
        if (at == std::string::npos) {
            refuse("the archive has no directory at its end, allowed is a complete zip file (was "
                   "a transfer cut off?)");
        }
        members_ = number(tail, at + 10, 2);
        bytes_ = number(tail, at + 12, 4);
        begin_ = number(tail, at + 16, 4);
        if (number(tail, at + 4, 2) != 0 && number(tail, at + 4, 2) != all_16) {
            refuse("an archive in several parts, allowed is one part");
        }
        if (members_ == all_16 || bytes_ == all_32 || begin_ == all_32) {
            find_zip64_end(first + at);
        }
    }

    /// The record of zip64 is named by a locator of 20 bytes before the other record.
    void find_zip64_end(std::uint64_t end) {
        constexpr std::uint64_t locator_bytes = 20;
        constexpr std::uint64_t record_bytes = 56;
        const std::string locator =
            end >= locator_bytes ? bytes(end - locator_bytes, locator_bytes) : std::string();
        const std::uint64_t at = locator.starts_with("PK\x06\x07") ? number(locator, 8, 8) : end;
        const std::string record =
            at <= end && end - at >= record_bytes ? bytes(at, record_bytes) : std::string();
        if (!record.starts_with("PK\x06\x06")) {
            refuse("the archive lacks the zip64 record that its sizes need, allowed is a complete "
                   "zip file");
        }
        members_ = number(record, 32, 8);
        bytes_ = number(record, 40, 8);
        begin_ = number(record, 48, 8);
    }

    zip_member take_member(std::string_view& rest) const {
        if (rest.size() < entry_bytes || !rest.starts_with("PK\x01\x02")) {
            refuse("the directory of the archive is damaged, allowed is a valid zip file");
        }
        const std::uint64_t name = number(rest, 28, 2);
        const std::uint64_t extra = number(rest, 30, 2);
        const std::uint64_t comment = number(rest, 32, 2);
        if (rest.size() - entry_bytes < name + extra + comment) {
            refuse("the directory of the archive is damaged, allowed is a valid zip file");
        }
        zip_member member;
        member.name = rest.substr(entry_bytes, name);
        member.checksum = static_cast<std::uint32_t>(number(rest, 16, 4));
        member.stored_bytes = number(rest, 20, 4);
        member.bytes = number(rest, 24, 4);
        member.local_header = number(rest, 42, 4);
        read_zip64(member, rest.substr(entry_bytes + name, extra));
        check(member, number(rest, 10, 2), number(rest, 8, 2));
        member.deflated = number(rest, 10, 2) == 8;
        rest.remove_prefix(entry_bytes + name + extra + comment);
        return member;
    }

    /// The sizes that don't fit into 32 bits stand in a field of the extra ones, in this order.
    static void read_zip64(zip_member& member, std::string_view extra) {
        while (extra.size() >= 4) {
            const std::uint64_t id = number(extra, 0, 2);
            const std::uint64_t length =
                std::min<std::uint64_t>(number(extra, 2, 2), extra.size() - 4);
            std::string_view field = extra.substr(4, length);
            extra.remove_prefix(4 + length);
            if (id != 1) {
                continue;
            }
            for (std::uint64_t* size :
                 {&member.bytes, &member.stored_bytes, &member.local_header}) {
                if (*size == all_32 && field.size() >= 8) {
                    *size = number(field, 0, 8);
                    field.remove_prefix(8);
                }
            }
        }
    }

    void check(const zip_member& member, std::uint64_t method, std::uint64_t flags) const {
        constexpr std::uint64_t most_ratio = 1032; // of deflate
        const std::string name = "member " + market::quoted(member.name);
        if ((flags & 1) != 0) {
            refuse(name + " is encrypted, allowed are archives without a password");
        }
        if (method != 0 && method != 8) {
            refuse(name + " is packed by method " + std::to_string(method) +
                   ", allowed are 0 (stored) and 8 (deflated)");
        }
        const bool possible = method == 0 ? member.bytes == member.stored_bytes
                                          : member.bytes / most_ratio <= member.stored_bytes;
        if (!possible || member.stored_bytes > archive_.bytes) {
            refuse(name + " claims to have " + std::to_string(member.bytes) + " bytes, " +
                   std::to_string(member.stored_bytes) + " in the archive of " +
                   std::to_string(archive_.bytes) + ", allowed is what that many can hold");
        }
    }

    const binary::byte_source& archive_;
    std::uint64_t members_ = 0;
    std::uint64_t bytes_ = 0; ///< of the directory
    std::uint64_t begin_ = 0;
};

} // namespace

std::vector<zip_member> read_zip_directory(const binary::byte_source& archive) {
    return directory_reader(archive).read();
}

} // namespace krylith::numpy
