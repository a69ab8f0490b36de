// What is written to a .kcsr file is what is read.
#include <krylith/matrix/kcsr.hpp>
#include <krylith/matrix/kcsr/mapped_csr.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/matrix/support/samples.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

using krylith::csr_matrix;
using krylith::mapped_csr;
using krylith::read_binary_csr;
using krylith::test::message_of;
using krylith::test::same_bits;
using krylith::test::temporary_folder;

TEST_CASE_TEMPLATE("a matrix comes back to the bit, read or mapped", T, double, float) {
    // This finds an array cut, shifted or reordered; values that went through a conversion.
    const temporary_folder folder;
    const auto path = folder.file("a.kcsr");
    for (const auto& sample : krylith::test::file_samples<T>()) {
        const auto& matrix = sample.matrix;
        CAPTURE(sample.name);
        write_binary_csr(path, matrix);
        CHECK(same_bits(read_binary_csr<T>(path), matrix));
        CHECK(same_bits(mapped_csr<T>(path).view(), krylith::csr_view<T>(matrix)));
        CHECK(same_bits(mapped_csr<T>(path, {.checksums = false, .matrix = false}).view(),
                        krylith::csr_view<T>(matrix)));
    }
}

TEST_CASE("a matrix of many chunks comes back, and the arrays are aligned") {
    // This finds a table that is right for one chunk an array only, padding of a wrong length.
    const temporary_folder folder;
    const auto path = folder.file("a.kcsr");
    for (const std::int64_t side : {57, 64}) { // rows 8 k + 1 and 8 k: other lengths of padding
        const auto matrix = krylith::poisson3d<double>(side, krylith::random_scaling{5});
        write_binary_csr(path, matrix);
        const mapped_csr<double> file(path);
        CHECK(same_bits(file.view(), krylith::csr_view<double>(matrix)));
        for (const void* array : {static_cast<const void*>(file.view().row_offsets.data()),
                                  static_cast<const void*>(file.view().column_indices.data()),
                                  static_cast<const void*>(file.view().values.data())}) {
            CHECK(reinterpret_cast<std::uintptr_t>(array) % 64 == 0);
        }
    }
}

TEST_CASE("the bytes of version 1 don't change") {
    // This finds a change of the format that forgot to be another version.
    const temporary_folder folder;
    write_binary_csr(folder.file("a.kcsr"), csr_matrix<double>{1, 2, {0, 1}, {1}, {-1.5}});
    const std::string found = krylith::test::contents_of(folder.file("a.kcsr"));
    REQUIRE(found.size() == 328);
    const auto number = [&](std::size_t at) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, found.data() + at, sizeof bits);
        return bits;
    };
    CHECK(found.substr(0, 8) == "\x89KCSR\r\n\x1a");
    const std::vector<std::uint64_t> head{
        0x0000000101020304, 1, 1, 2, 1, 128, 192, 256, 320, 328, 0, 0, 0};
    for (std::size_t k = 0; k < head.size(); ++k) {
        CAPTURE(k);
        CHECK(number(8 + 8 * k) == head[k]);
    }
    CHECK(number(192) == 0);
    CHECK(number(200) == 1);
    CHECK(number(256) == 1); // one column index, then padding
    CHECK(number(320) == 0xbff8000000000000);
    // XXH3 of the arrays and of the head, as the xxhsum of Debian's xxhash computes them.
    CHECK(number(112) == 0xc38c9dd2cac610a4);
    CHECK(number(120) == 0xe90cbcebf8bf72bb);
    CHECK(number(128) == 0x0cfbaea74a8cc0e5);
}

TEST_CASE("values of the other precision are widened, or narrowed where they fit") {
    // This finds a file of floats read as doubles, an overflow that becomes infinity unseen.
    const temporary_folder folder;
    const auto path = folder.file("a.kcsr");
    write_binary_csr(path, csr_matrix<float>{1, 2, {0, 2}, {0, 1}, {0.1F, -3}});
    CHECK(read_binary_csr<double>(path).values == std::vector<double>{0.1F, -3});
    write_binary_csr(path, csr_matrix<double>{1, 2, {0, 2}, {0, 1}, {0.1, 1e-60}});
    CHECK(read_binary_csr<float>(path).values == std::vector<float>{0.1F, 0});
    write_binary_csr(path, csr_matrix<double>{2, 2, {0, 1, 3}, {0, 0, 1}, {1, 2, -0x1p200}});
    const std::string message =
        message_of<krylith::input_error>([&] { static_cast<void>(read_binary_csr<float>(path)); });
    CHECK_MESSAGE(message.find("in row 1, column 1 (from 0) is -1.6069380442589903e+60, too") !=
                      std::string::npos,
                  message);
    CHECK(message_of<krylith::input_error>([&] {
              static_cast<void>(mapped_csr<float>(path));
          }).find("holds fp64 values, allowed in place are fp32") != std::string::npos);
}

TEST_CASE("a mapped matrix outlives a move and the replacement of its file") {
    // This finds a view into an object that moved; a file changed under its readers.
    const temporary_folder folder;
    const auto path = folder.file("a.kcsr");
    const auto old = krylith::poisson2d<double>(9);
    write_binary_csr(path, old);
    mapped_csr<double> first(path);
    mapped_csr<double> second = std::move(first);
    write_binary_csr(path, krylith::poisson2d<double>(10));
    CHECK(same_bits(second.view(), krylith::csr_view<double>(old)));
    second = mapped_csr<double>(path);
    CHECK(second.view().rows == 100);
}

TEST_CASE("load_matrix knows the format by the first bytes, whatever the name") {
    // This finds a .kcsr file under another name parsed as text, and the reverse.
    const temporary_folder folder;
    const auto matrix = krylith::poisson2d<double>(3);
    write_binary_csr(folder.file("a.kcsr"), matrix);
    write_binary_csr(folder.file("b.bin"), matrix);
    CHECK(krylith::load_matrix<double>(folder.file("a.kcsr").string()) == matrix);
    CHECK(krylith::load_matrix<double>(folder.file("b.bin").string()) == matrix);
    const auto text = folder.write("c.kcsr", "%%MatrixMarket matrix coordinate real general\n");
    CHECK(message_of<krylith::input_error>([&] {
              static_cast<void>(krylith::load_matrix<double>(text.string()));
          }).find("ends before its size line") != std::string::npos);
    CHECK(krylith::is_binary_csr(folder.file("b.bin")));
    CHECK_FALSE(krylith::is_binary_csr(text));
    CHECK_FALSE(krylith::is_binary_csr(folder.file("")));
    CHECK_FALSE(krylith::is_binary_csr(folder.file("absent")));
}
