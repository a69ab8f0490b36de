// Files that SciPy and NumPy wrote.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/tests/matrix/support/contains.hpp>
#include <krylith/tests/matrix/support/golden.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

using krylith::input_error;
using krylith::load_matrix;
using krylith::load_vector;
using krylith::test::contains;
using krylith::test::contents_of;
using krylith::test::golden;
using krylith::test::golden_matrix;
using krylith::test::golden_vector;
using krylith::test::message_of;
using krylith::test::temporary_folder;

namespace {

std::string refusal_of_matrix(const std::string& path) {
    return message_of<input_error>([&] { static_cast<void>(load_matrix<double>(path)); });
}

std::string refusal_of_vector(const std::string& path) {
    return message_of<input_error>([&] { static_cast<void>(load_vector<double>(path)); });
}

} // namespace

TEST_CASE("npz: what save_npz wrote is the same matrix in every form") {
    for (const std::string name : {"csr_deflated", "csr_stored", "csr_array", "csc", "coo_twice",
                                   "csr_unsorted", "csr_int64_big_endian"}) {
        CAPTURE(name);
        CHECK(load_matrix<double>(golden(name + ".npz")) == golden_matrix<double>());
        CHECK(load_matrix<float>(golden(name + ".npz")) == golden_matrix<float>());
    }
    CHECK(load_matrix<float>(golden("csr_float32.npz")) == golden_matrix<float>());
    CHECK(load_matrix<double>(golden("csr_float32.npz")).values[4] == double(0.001F));
    const krylith::csr_matrix<double> small{2, 3, {0, 2, 3}, {0, 2, 1}, {1, -2, 3}};
    CHECK(load_matrix<double>(golden("csr_int8.npz")) == small);
    CHECK(load_matrix<double>(golden("empty.npz")) == krylith::csr_matrix<double>{});
}

TEST_CASE("npz: the report says what the file held") {
    krylith::file_report report;
    static_cast<void>(load_matrix<double>(golden("coo_twice.npz"), {.report = &report}));
    CHECK(report.layout == "scipy.sparse coo");
    CHECK(report.entries == 6);
    CHECK(report.duplicates == 1);
    static_cast<void>(load_matrix<double>(golden("csr_float32.npz"), {.report = &report}));
    CHECK(report.field == "<f4");
    CHECK(report.duplicates == 0);
}

TEST_CASE("npz: what SciPy can hold and krylith can't is refused in words") {
    CHECK(contains(refusal_of_matrix(golden("bsr.npz")), "\"bsr\", allowed are csr, csc and coo"));
    CHECK(contains(refusal_of_matrix(golden("csr_complex.npz")),
                   "data.npy: items of type \"<c16\", allowed are bool"));
    CHECK(contains(refusal_of_matrix(golden("vector.npz")), "has no member format.npy"));
    CHECK(contains(refusal_of_vector(golden("csr_stored.npz")), "an archive of 5 arrays"));
}

TEST_CASE("npy: vectors of every type and order, plain and gzipped") {
    CHECK(load_vector<double>(golden("vector.npy")) == golden_vector());
    CHECK(load_vector<double>(golden("vector.npz")) == golden_vector());
    CHECK(load_vector<double>(golden("vector.npy.gz")) == golden_vector());
    CHECK(load_vector<double>(golden("column_big_endian.npy")) == golden_vector());
    CHECK(load_vector<double>(golden("vector_float32.npy")) == std::vector<double>{0.5, -2, 3});
    CHECK(contains(refusal_of_vector(golden("complex.npy")), "type \"<c16\""));
    CHECK(contains(refusal_of_vector(golden("dense.npy")), "shape (3, 4), allowed for a vector"));
    CHECK(contains(message_of<input_error>(
                       [] { static_cast<void>(load_vector<float>(golden("vector.npy"))); }),
                   "entry 2 (from 0) is 3"));
}

TEST_CASE("npy, npz: several vectors are the columns of an array, in either order") {
    using krylith::load_columns;
    const std::vector<double> expected = {0.1, -2, 3e300, 4, 5, 6};
    for (const std::string name : {"columns.npy", "columns_by_columns.npy", "columns.npz"}) {
        CAPTURE(name);
        const auto columns = load_columns<double>(golden(name), 3);
        CHECK(columns.rows == 3);
        CHECK(columns.columns == 2);
        CHECK(columns.values == expected);
    }
    CHECK(load_columns<float>(golden("columns_float32.npy")).values ==
          std::vector<float>{0.5F, -2, 3, 4, 5, 6});
    CHECK(load_columns<double>(golden("columns_float32.npy")).columns == 2);
    const auto one = load_columns<double>(golden("column_big_endian.npy"), 3);
    CHECK(one.rows == 3);
    CHECK(one.columns == 1);
    CHECK(one.values == golden_vector());
    CHECK(load_columns<double>(golden("vector.npy")).values == golden_vector());
    CHECK(contains(message_of<input_error>(
                       [] { static_cast<void>(load_columns<double>(golden("cube.npy"))); }),
                   "shape (2, 2, 2), allowed for vectors are (n,), (n, k) with k from 1 on"));
    CHECK(contains(refusal_of_vector(golden("columns.npy")), "shape (3, 2), allowed for a vector"));
}

TEST_CASE("npy: one row is a vector, unless vectors of one entry are due") {
    const temporary_folder folder;
    krylith::save_columns<double>(folder.file("row.npy"), {1, 2, {7, 8}});
    const auto path = folder.file("row.npy").string();
    CHECK(krylith::load_columns<double>(path).rows == 2);
    CHECK(krylith::load_columns<double>(path, 2).columns == 1);
    CHECK(krylith::load_columns<double>(path, 1).columns == 2);
}

TEST_CASE("npy: dense matrices") {
    CHECK(load_matrix<double>(golden("dense.npy")) == golden_matrix<double>());
    CHECK(load_matrix<double>(golden("dense_by_columns.npy")) == golden_matrix<double>());
    CHECK(contains(refusal_of_matrix(golden("vector.npy")), "shape (3,), allowed for a matrix"));
}

TEST_CASE("npz, npy: a byte that is changed or missing is found, or changes the numbers alone") {
    const temporary_folder folder;
    for (const std::string name : {"csr_deflated.npz", "csr_stored.npz", "coo_twice.npz"}) {
        const std::string good = contents_of(golden(name));
        for (std::size_t end = 0; end < good.size(); end += 7) {
            CAPTURE(end);
            const auto path = folder.write("cut.npz", good.substr(0, end)).string();
            CHECK(refusal_of_matrix(path).starts_with(path + ": "));
        }
        for (std::size_t place = 0; place < good.size(); ++place) {
            std::string broken = good;
            broken[place] = static_cast<char>(broken[place] ^ 0x10);
            const auto path = folder.write("broken.npz", broken).string();
            krylith::csr_matrix<double> matrix;
            const std::string refusal =
                message_of<input_error>([&] { matrix = load_matrix<double>(path); });
            CAPTURE(place);
            CAPTURE(refusal);
            // Times, attributes and the copy of the header before a member are of no account.
            CHECK((refusal.starts_with(path + ": ") || matrix == golden_matrix<double>()));
        }
    }
    const std::string good = contents_of(golden("vector.npy"));
    for (std::size_t end = 0; end < good.size(); ++end) {
        const auto path = folder.write("cut.npy", good.substr(0, end)).string();
        CHECK(refusal_of_vector(path).starts_with(path + ": "));
    }
    const auto longer = folder.write("longer.npy", good + "x").string();
    CHECK(
        contains(refusal_of_vector(longer), "25 bytes of items, allowed are those of shape (3,)"));
}
