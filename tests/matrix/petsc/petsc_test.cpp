// PETSc's binary files.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/tests/matrix/support/contains.hpp>
#include <krylith/tests/matrix/support/golden.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/matrix/support/samples.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

using krylith::input_error;
using krylith::load_matrix;
using krylith::load_vector;
using krylith::test::contains;
using krylith::test::contents_of;
using krylith::test::golden;
using krylith::test::golden_matrix;
using krylith::test::golden_vector;
using krylith::test::load_refusal;
using krylith::test::message_of;
using krylith::test::temporary_folder;

TEST_CASE("petsc: integers of 32 and 64 bits, double and single precision") {
    CHECK(load_matrix<double>(golden("matrix.petsc")) == golden_matrix<double>());
    CHECK(load_matrix<double>(golden("matrix_int64.petsc")) == golden_matrix<double>());
    CHECK(load_matrix<float>(golden("matrix_single.petsc")) == golden_matrix<float>());
    CHECK(load_vector<double>(golden("vector.petsc")) == golden_vector());
    CHECK(load_vector<double>(golden("vector_int64.petsc")) == golden_vector());
}

TEST_CASE("petsc: a file may hold a matrix and then its right-hand side") {
    CHECK(load_matrix<double>(golden("matrix_and_vector.petsc")) == golden_matrix<double>());
    CHECK(load_vector<double>(golden("matrix_and_vector.petsc")) == golden_vector());
    CHECK(contains(load_refusal(golden("vector.petsc")), "holds 1 object of PETSc, and no matrix"));
    CHECK(contains(message_of<input_error>(
                       [] { static_cast<void>(load_vector<double>(golden("matrix.petsc"))); }),
                   "and no vector"));
}

TEST_CASE("petsc: what is written is what PETSc would have written, and comes back") {
    const temporary_folder folder;
    krylith::save_matrix(folder.file("a.petsc"), golden_matrix<double>());
    CHECK(contents_of(folder.file("a.petsc")) == contents_of(golden("matrix.petsc")));
    const std::vector<double> vector = golden_vector();
    krylith::save_vector<double>(folder.file("b.petsc"), vector);
    CHECK(contents_of(folder.file("b.petsc")) == contents_of(golden("vector.petsc")));
    for (const auto& sample : krylith::test::file_samples<double>()) {
        const krylith::csr_matrix<double>& matrix = sample.matrix;
        if (!canonical(matrix)) continue;
        CAPTURE(sample.name);
        krylith::save_matrix(folder.file("c.petsc"), matrix);
        CHECK(
            krylith::test::same_bits(load_matrix<double>(folder.file("c.petsc").string()), matrix));
    }
    const auto large = krylith::make_gallery<float>("poisson3d:40");
    krylith::save_matrix(folder.file("large.petsc"), large);
    CHECK(load_matrix<float>(folder.file("large.petsc").string()) == large);
}

TEST_CASE("petsc: damage is told by its place") {
    const temporary_folder folder;
    const std::string good = contents_of(golden("matrix.petsc"));
    const auto with = [&](std::size_t byte, char value) {
        std::string broken = good;
        broken[byte] = value;
        return load_refusal(folder.write("a.petsc", broken).string());
    };
    CHECK(contains(with(12, '\xff'), "is a dense matrix, allowed are sparse ones"));
    CHECK(contains(with(15, 6), "rows have 5 nonzeros, allowed are the 6"));
    CHECK(contains(with(19, 7), "rows have 10 nonzeros"));
    CHECK(contains(with(4, 1), "is a matrix of 16777219 rows, 72 bytes are left"));
    CHECK(contains(with(31, 4),
                   "column indices, entry 0 (from 0) is 4, allowed are whole numbers from 0 to 3"));
    CHECK(contains(load_refusal(golden("vector_complex.petsc")), "numbers of 16 bytes"));
    for (std::size_t end = 0; end < good.size(); ++end) {
        if (end == 68) continue; // as long as the matrix in single precision
        const auto path = folder.write("cut.petsc", good.substr(0, end)).string();
        CHECK(load_refusal(path).starts_with(path + ": "));
    }
    const auto longer = folder.write("longer.petsc", good + "x").string();
    CHECK(contains(load_refusal(longer), "allowed are 8"));
}
