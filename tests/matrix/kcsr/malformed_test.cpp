// .kcsr files that are refused, and how.
#include <krylith/matrix/kcsr.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/checksum.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/kcsr/image.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

namespace {

using krylith::test::contents_of;
using krylith::test::message_of;
using krylith::test::temporary_folder;

/// A file in memory that is aligned as a mapping is.
class file_bytes {
public:
    explicit file_bytes(const std::string& contents)
        : words_(contents.size() / 8 + 1), size_(contents.size()) {
        std::memcpy(words_.data(), contents.data(), size_);
    }

    [[nodiscard]] std::span<std::byte> bytes() {
        return std::as_writable_bytes(std::span(words_)).first(size_);
    }
    template <class Number>
    void put(std::size_t at, Number number) {
        std::memcpy(bytes().data() + at, &number, sizeof number);
    }
    /// Makes the head's own checksum right again: for damage that it would otherwise hide.
    void seal() { put(120, krylith::binary::checksum(bytes().first(120))); }

    [[nodiscard]] std::string refusal(krylith::binary::file_check check = {}) {
        return message_of<krylith::input_error>(
            [&] { static_cast<void>(krylith::binary::open_image(bytes(), "a.kcsr", check)); });
    }

private:
    std::vector<std::uint64_t> words_;
    std::size_t size_;
};

std::string sample_file() {
    const temporary_folder folder;
    const krylith::csr_matrix<double> matrix{
        3, 4, {0, 2, 2, 5}, {0, 3, 1, 2, 3}, {1, -2, 3.5, 0, 1e300}};
    write_binary_csr(folder.file("a.kcsr"), matrix);
    return contents_of(folder.file("a.kcsr"));
}

void check_image_refused(file_bytes& file, const std::string& what,
                         krylith::binary::file_check check = {}) {
    const std::string message = file.refusal(check);
    INFO(message);
    CHECK(message.starts_with("a.kcsr: "));
    CHECK(message.find(what) != std::string::npos);
}

} // namespace

TEST_CASE("a file cut off anywhere is refused, and one appended to") {
    // This finds a read beyond the end of the mapping, a head that is believed too early.
    const std::string whole = sample_file();
    CHECK(file_bytes(whole).refusal() == "no exception");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const std::string message = file_bytes(whole.substr(0, size)).refusal();
        CHECK_MESSAGE(message.starts_with("a.kcsr: "), size);
    }
    file_bytes longer(whole + '\0');
    check_image_refused(longer, "cut off or appended to");
}

TEST_CASE("a changed bit is found wherever it is") {
    // This finds bytes that no checksum covers (padding, reserved fields, the table).
    const std::string whole = sample_file();
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (int bit = 0; bit < 8; ++bit) {
            std::string changed = whole;
            changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
            const std::string message = file_bytes(changed).refusal();
            CHECK_MESSAGE(message.starts_with("a.kcsr: "), at, ", bit ", bit, ": ", message);
        }
    }
}

TEST_CASE("damage in a large array is located by its chunk") {
    // This finds checksums of the wrong chunk, or only of the first.
    const temporary_folder folder;
    write_binary_csr(folder.file("a.kcsr"), krylith::poisson3d<double>(40));
    const std::string whole = contents_of(folder.file("a.kcsr"));
    const std::size_t values = whole.size() - 8 * 438400;
    for (const std::size_t chunk : {0U, 1U, 3U}) {
        const std::size_t begin = values + (chunk << 20U);
        std::string changed = whole;
        changed[begin + 17] = static_cast<char>(changed[begin + 17] + 1);
        file_bytes file(changed);
        const std::size_t end = std::min(begin + (1U << 20U), whole.size());
        check_image_refused(file, "bytes " + std::to_string(begin) + " to " +
                                      std::to_string(end - 1) + " are damaged");
    }
}

TEST_CASE("the head is refused by what is wrong with it") {
    // This finds sizes that are multiplied before they are checked; a newer file misread.
    file_bytes file(sample_file());
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    SUBCASE("magic") {
        file.put(0, 'k');
        check_image_refused(file, "doesn't start as a binary CSR file");
    }
    SUBCASE("line ends changed by a transfer as text") {
        std::string text = sample_file();
        text.erase(5, 1);
        file = file_bytes(text);
        check_image_refused(file, "doesn't start as a binary CSR file");
    }
    SUBCASE("the other byte order") {
        file.put(8, std::uint32_t{0x04030201});
        check_image_refused(file, "a machine of the other byte order");
    }
    SUBCASE("no byte order") {
        file.put(8, std::uint32_t{7});
        check_image_refused(file, "has the byte order mark 7, allowed is 16909060");
    }
    SUBCASE("a version of the future, before anything else is looked at") {
        file.put(12, std::uint32_t{2});
        check_image_refused(file, "is of version 2 of the format, allowed is 1");
    }
    SUBCASE("damage") {
        file.put(24, std::int64_t{4});
        check_image_refused(file, "the head (bytes 0 to 127) is damaged");
    }
    SUBCASE("type") {
        file.put(16, std::uint32_t{3});
        file.seal();
        check_image_refused(file, "the type of the values is 3, allowed are 1 (fp64) and 2 (fp32)");
    }
    SUBCASE("the other type, for which the file is too long") {
        file.put(16, std::uint32_t{2});
        file.seal();
        check_image_refused(file, "cut off or appended to");
    }
    SUBCASE("rows negative") {
        file.put(24, std::int64_t{-1});
        file.seal();
        check_image_refused(file, "rows is -1, allowed are 0 to 72057594037927936");
    }
    SUBCASE("rows whose bytes overflow") {
        file.put(24, most);
        file.seal();
        check_image_refused(file, "rows is 9223372036854775807, allowed");
    }
    SUBCASE("rows that wrap to the right length") { // 8 (2^61 + 3) = 24 in 64 bits
        file.put(24, (std::int64_t{1} << 61) + 3);
        file.seal();
        check_image_refused(file, "rows is 2305843009213693955, allowed");
    }
    SUBCASE("columns beyond 32 bits") {
        file.put(32, std::int64_t{1} << 31);
        file.seal();
        check_image_refused(file, "columns is 2147483648, allowed are 0 to 2147483647");
    }
    SUBCASE("nnz negative") {
        file.put(40, std::int64_t{-5});
        file.seal();
        check_image_refused(file, "nnz is -5, allowed");
    }
    SUBCASE("the largest nnz that is allowed") {
        file.put(40, std::int64_t{1} << 56);
        file.seal();
        check_image_refused(file, "cut off or appended to");
    }
    SUBCASE("another place of an array") {
        file.put(56, std::uint64_t{256});
        file.seal();
        check_image_refused(file, "other positions of the arrays");
    }
    SUBCASE("reserved bytes used") {
        file.put(96, std::uint64_t{1});
        file.seal();
        check_image_refused(file, "bytes that must be 0");
    }
}

TEST_CASE("a matrix that isn't one is refused like any other") {
    // This finds checksums taken for a proof that the writer was right.
    file_bytes file(sample_file());
    constexpr std::size_t offsets = 192;
    constexpr std::size_t columns = 256;
    const krylith::binary::file_check no_checksums{.checksums = false};
    SUBCASE("offsets descend") {
        file.put(offsets + 8, std::int64_t{6});
        check_image_refused(file, "CSR matrix: row 1 starts at 6 and ends at 2", no_checksums);
    }
    SUBCASE("column out of range") {
        file.put(columns + 4, std::int32_t{4});
        check_image_refused(file, "column_indices[1], in row 0, is 4", no_checksums);
    }
    SUBCASE("the last offset is not nnz") {
        file.put(offsets + 24, std::int64_t{4});
        check_image_refused(file, "row_offsets[3] is 4", no_checksums);
    }
}

TEST_CASE("what is not a regular file is refused") {
    // This finds a command that waits for a pipe, or maps a device.
    const temporary_folder folder;
    const auto refusal = [&](const char* name) {
        return message_of<krylith::input_error>(
            [&] { static_cast<void>(krylith::read_binary_csr<double>(folder.file(name))); });
    };
    CHECK(refusal("absent.kcsr").ends_with("absent.kcsr: no such file"));
    CHECK(refusal(".").find("is not a regular file") != std::string::npos);
    CHECK(refusal("/dev/zero").find("is not a regular file") != std::string::npos);
    REQUIRE(mkfifo(folder.file("pipe.kcsr").c_str(), 0600) == 0);
    CHECK(refusal("pipe.kcsr").find("is not a regular file") != std::string::npos);
    folder.write("empty.kcsr", "");
    CHECK(refusal("empty.kcsr").find("is empty") != std::string::npos);
}
