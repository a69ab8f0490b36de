// Vectors as plain lists of numbers.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

using krylith::load_vector;
using krylith::test::contents_of;
using krylith::test::message_of;
using krylith::test::temporary_folder;
using numbers = std::vector<double>;

namespace {

numbers read_list(const std::string& text, std::optional<std::int64_t> entries = std::nullopt) {
    const temporary_folder folder;
    return load_vector<double>(folder.write("b.txt", text).string(), entries);
}

std::string list_refusal(const std::string& text) {
    const temporary_folder folder;
    const auto path = folder.write("b.txt", text).string();
    const std::string said =
        message_of<krylith::input_error>([&] { static_cast<void>(load_vector<double>(path)); });
    return said.starts_with(path) ? said.substr(path.size()) : said;
}

} // namespace

TEST_CASE("list: one or several numbers a line, comments, any blanks") {
    CHECK(read_list("1.5\n-2\n3e4\n") == numbers{1.5, -2, 3e4});
    CHECK(read_list("# of mine\n1.5 -2 3\n\n\t4 5 % the end\r\n6") == numbers{1.5, -2, 3, 4, 5, 6});
    CHECK(read_list("1D3 +2 .5") == numbers{1000, 2, 0.5});
}

TEST_CASE("list: a first number that counts the others is no entry, unless it has to be one") {
    CHECK(read_list("3\n1\n2\n3\n") == numbers{1, 2, 3});
    CHECK(read_list("3\n1\n2\n3\n", 3) == numbers{1, 2, 3});
    CHECK(read_list("3\n1\n2\n3\n", 4) == numbers{3, 1, 2, 3});
    CHECK(read_list("3\n1\n2\n") == numbers{3, 1, 2});
    CHECK(read_list("3 1 2 3\n") == numbers{3, 1, 2, 3}); // not alone on its line
}

TEST_CASE("list: what is no number is told by its line") {
    CHECK(list_refusal("1\n2\nx\n")
              .starts_with(":3: the value is \"x\", allowed is a decimal number"));
    CHECK(list_refusal("1\n1,5\n").starts_with(":2: the value is \"1,5\""));
    CHECK(list_refusal("nan\n").starts_with(":1: "));
    CHECK(list_refusal("1\n2 1e999\n")
              .starts_with(":2: the value is \"1e999\", allowed are magnitudes"));
    CHECK(list_refusal("").find("has no numbers") != std::string::npos);
    CHECK(list_refusal("# nothing\n").find("has no numbers") != std::string::npos);
    CHECK(list_refusal(std::string("1\n\0\n", 4)).starts_with(":2: the value is \"\\x00\""));
}

TEST_CASE("list: long ones are read in blocks, in their order, and come back as written") {
    const temporary_folder folder;
    numbers all;
    for (int k = 0; k < 300'000; ++k) all.push_back(k / 7.0);
    krylith::save_vector<double>(folder.file("b.txt"), all, "mine");
    CHECK(contents_of(folder.file("b.txt")).starts_with("# mine\n0\n0.14285714285714285\n"));
    CHECK(load_vector<double>(folder.file("b.txt").string()) == all);
    krylith::save_vector<double>(folder.file("b.txt.gz"), all, "mine");
    CHECK(load_vector<double>(folder.file("b.txt.gz").string()) == all);
    const std::string late = contents_of(folder.file("b.txt")) + "oops\n";
    CHECK(list_refusal(late).starts_with(":300002: "));
}
