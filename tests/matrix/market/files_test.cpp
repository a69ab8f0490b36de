// Files: plain and gzipped, longer than the reader's buffer, missing, damaged.
#include <krylith/matrix/matrix_market.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <zlib.h>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/market/reader.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

namespace {

using krylith::test::contents_of;
using krylith::test::temporary_folder;

std::string file_refusal(const std::filesystem::path& path) {
    return krylith::test::message_of<krylith::input_error>(
        [&] { static_cast<void>(krylith::read_matrix_market<double>(path)); });
}

void check_file_refused(const std::filesystem::path& path, const std::string& what) {
    const std::string message = file_refusal(path);
    CAPTURE(message);
    CHECK(message.find(path.string()) == 0);
    CHECK(message.find(what) != std::string::npos);
}

} // namespace

TEST_CASE("a gzipped file reads as the plain one, whatever its name") {
    const temporary_folder folder;
    const auto matrix = krylith::random_spd<double>(500, 9, 1);
    write_matrix_market(folder.file("a.mtx"), matrix);
    write_matrix_market(folder.file("a.mtx.gz"), matrix);
    const std::string packed = contents_of(folder.file("a.mtx.gz"));
    CHECK(packed.substr(0, 2) == "\x1f\x8b");
    CHECK(packed.size() < contents_of(folder.file("a.mtx")).size() * 3 / 4);
    CHECK(krylith::read_matrix_market<double>(folder.file("a.mtx")) == matrix);
    CHECK(krylith::read_matrix_market<double>(folder.file("a.mtx.gz")) == matrix);

    std::filesystem::rename(folder.file("a.mtx.gz"), folder.file("b.mtx"));
    CHECK(krylith::read_matrix_market<double>(folder.file("b.mtx")) == matrix);
    std::filesystem::rename(folder.file("a.mtx"), folder.file("c.mtx.gz"));
    CHECK(krylith::read_matrix_market<double>(folder.file("c.mtx.gz")) == matrix);
}

TEST_CASE("several gzip members one after another are one file") {
    const temporary_folder folder;
    krylith::write_vector_market<double>(folder.file("v.mtx.gz"), std::vector<double>{1, 2});
    const std::string vector = contents_of(folder.file("v.mtx.gz"));
    folder.write("twice.mtx.gz", vector + vector);
    // The second member's banner is a comment among the entries of the first.
    check_file_refused(folder.file("twice.mtx.gz"),
                       ":5: in \"%%MatrixMarket matrix array real general\" a comment");
}

TEST_CASE("a file of many blocks, and what is wrong at its end") {
    const temporary_folder folder;
    std::string text = "%%MatrixMarket matrix coordinate real general\n100000 7 700000\n";
    for (int row = 1; row <= 100000; ++row) {
        for (int column = 1; column <= 7; ++column) {
            text += std::to_string(row) + " " + std::to_string(column) + " " +
                    std::to_string(row * 7 + column) + ".2500000000\n";
        }
        text += row % 1000 == 0 ? "\n  \n" : "";
    }
    REQUIRE(text.size() > (std::size_t{17} << 20));
    const auto check_values = [](const krylith::csr_matrix<double>& matrix) {
        REQUIRE(matrix.rows == 100000);
        REQUIRE(matrix.nnz() == 700000);
        std::size_t wrong = 0;
        for (std::size_t k = 0; k < 700000; ++k) {
            wrong += matrix.column_indices[k] != static_cast<int>(k % 7) ||
                     matrix.values[k] != static_cast<double>(k / 7 * 7 + 7 + k % 7 + 1) + .25;
        }
        CHECK(wrong == 0);
    };
    check_values(krylith::parse_matrix_market<double>(text, "text"));
    check_values(krylith::read_matrix_market<double>(folder.write("long.mtx", text)));

    const std::string last = "100000 7 700007.2500000000\n";
    const std::size_t place = text.rfind(last);
    REQUIRE(place != std::string::npos);
    text.replace(place, last.size(), "100000 8 700007.2500000000\n");
    const std::string line = ":" + std::to_string(2 + 700000 + 2 * 99) + ": ";
    check_file_refused(folder.write("flaw.mtx", text),
                       line + "in \"100000 8 700007.2500000000\" the column");
    text.erase(place);
    check_file_refused(folder.write("short.mtx", text), "after 699999 entries");

    // Several blocks have flaws: the first counts, whichever thread is quicker.
    for (const std::size_t position : {text.size() / 3, text.size() / 2}) {
        text[text.find(' ', position)] = 'x';
    }
    const std::string message = file_refusal(folder.write("two.mtx", text));
    const std::size_t first_flaw = text.find('x', text.find('\n'));
    const auto line_of_flaw =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(first_flaw), '\n');
    CHECK(message.find(":" + std::to_string(line_of_flaw) + ": ") != std::string::npos);
}

TEST_CASE("a line longer than 16 MiB is refused, one of 15 is not") {
    const temporary_folder folder;
    const std::string text = "%%MatrixMarket matrix coordinate real general\n%" +
                             std::string(std::size_t{17} << 20, 'x') + "\n1 1 0\n";
    check_file_refused(folder.write("line.mtx", text), ":2: a line longer than 16777216 bytes");
    const std::string entry = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 " +
                              std::string(std::size_t{17} << 20, '1');
    check_file_refused(folder.write("entry.mtx", entry), ":3: a line longer than 16777216 bytes");

    const std::string shorter = "%%MatrixMarket matrix coordinate real general\n%" +
                                std::string(std::size_t{15} << 20, 'x') + "\n1 1 1\n1 1 0." +
                                std::string(std::size_t{15} << 20, '5') + "\n";
    const auto matrix = krylith::read_matrix_market<double>(folder.write("shorter.mtx", shorter));
    CHECK(matrix.values == std::vector<double>{5.0 / 9});
}

TEST_CASE("truncated and corrupt gzip data are refused") {
    const temporary_folder folder;
    write_matrix_market(folder.file("a.mtx.gz"), krylith::random_spd<double>(2000, 9, 1));
    const std::string good = contents_of(folder.file("a.mtx.gz"));
    REQUIRE(good.size() > 10000);

    for (const std::size_t length :
         {good.size() - 1, good.size() - 8, good.size() / 2, std::size_t{30}, std::size_t{5}}) {
        CAPTURE(length);
        check_file_refused(folder.write("cut.mtx.gz", good.substr(0, length)),
                           "the gzip data end too early");
    }
    for (const std::size_t place : {good.size() / 2, good.size() - 6, std::size_t{100}}) {
        CAPTURE(place);
        std::string bad = good;
        bad[place] = static_cast<char>(bad[place] ^ 0x55);
        const std::string message = file_refusal(folder.write("bad.mtx.gz", bad));
        CAPTURE(message);
        CHECK(message.find(folder.file("bad.mtx.gz").string() + ":") == 0);
        CHECK(message.find("gzip") != std::string::npos);
    }
}

TEST_CASE("missing files, folders and unreadable files are refused by name") {
    const temporary_folder folder;
    check_file_refused(folder.file("absent.mtx"), "no such file");
    check_file_refused(folder.file("absent/absent.mtx"), "no such file");
    check_file_refused(folder.file(""), "is a directory");
    check_file_refused(folder.write("empty.mtx", ""), ":1: the file is empty");
    const auto loop = folder.file("loop.mtx");
    std::filesystem::create_symlink(loop, loop);
    check_file_refused(loop, "can't be opened");
}

TEST_CASE("devices and pipes are refused at once: reading them might never end") {
    const temporary_folder folder;
    check_file_refused("/dev/zero", "is a character device, allowed is a Matrix Market file");
    check_file_refused("/dev/null", "is a character device");
    const auto pipe = folder.file("pipe.mtx"); // without a writer, opening it would wait
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    check_file_refused(pipe, "is a pipe, allowed is a Matrix Market file");
}

TEST_CASE("gzip data that unpack to nothing but blank lines are not followed for ever") {
    const temporary_folder folder;
    const std::string text = "%%MatrixMarket matrix coordinate real general\n1 1 1\n" +
                             std::string(4'000'000, '\n') + "1 1 1\n";
    const auto path = folder.file("bomb.mtx.gz");
    gzFile file = gzopen(path.c_str(), "wb9");
    REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) > 0);
    REQUIRE(gzclose(file) == Z_OK);
    REQUIRE(std::filesystem::file_size(path) < 10'000);
    CHECK(krylith::read_matrix_market<double>(path).nnz() == 1); // 4 MB are no bomb
    const std::string message = krylith::test::message_of<krylith::input_error>([&] {
        const krylith::market::source_limits limits{.unpacked_bytes = 2'000'000};
        static_cast<void>(krylith::market::read_matrix<double>(
            krylith::market::line_source::from_file(path, limits), {}));
    });
    CAPTURE(message);
    CHECK(message.find("bomb.mtx.gz:1") != std::string::npos); // a line above a million
    CHECK(message.find("unpack to more than 200 times as much, allowed is that up to 2000000") !=
          std::string::npos);
}

TEST_CASE("vectors come from files too") {
    const temporary_folder folder;
    const auto path =
        folder.write("v.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
    CHECK(krylith::read_vector_market<double>(path) == std::vector<double>{1, 2});
    CHECK(krylith::read_vector_market<float>(path) == std::vector<float>{1, 2});
    const std::string message = krylith::test::message_of<krylith::input_error>(
        [&] { static_cast<void>(krylith::read_vector_market<double>(folder.file("absent.mtx"))); });
    CHECK(message.find("no such file") != std::string::npos);
}
