// Files for SciPy and NumPy, read back; and the bytes that NumPy itself would have written.
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/tests/matrix/support/golden.hpp>
#include <krylith/tests/matrix/support/samples.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

using krylith::test::contents_of;
using krylith::test::golden;
using krylith::test::golden_vector;
using krylith::test::temporary_folder;

TEST_CASE_TEMPLATE("npz: every bit of a canonical matrix comes back", T, double, float) {
    const temporary_folder folder;
    for (const auto& sample : krylith::test::file_samples<T>()) {
        const krylith::csr_matrix<T>& matrix = sample.matrix;
        if (!canonical(matrix)) continue;
        CAPTURE(sample.name);
        const auto path = folder.file("a.npz");
        krylith::save_matrix(path, matrix);
        CHECK(krylith::test::same_bits(krylith::load_matrix<T>(path.string()), matrix));
    }
    const auto large = krylith::make_gallery<T>("poisson3d:40"); // several MiB
    krylith::save_matrix(folder.file("large.npz"), large);
    CHECK(krylith::load_matrix<T>(folder.file("large.npz").string()) == large);
}

TEST_CASE("npy: several vectors are written as NumPy writes them in Fortran's order") {
    const temporary_folder folder;
    const std::vector<double> values = {0.1, -2, 3e300, 4, 5, 6};
    krylith::save_columns<double>(folder.file("x.npy"), {3, 2, values});
    CHECK(contents_of(folder.file("x.npy")) == contents_of(golden("columns_by_columns.npy")));
    krylith::save_columns<double>(folder.file("b.npy"), {3, 1, golden_vector()});
    CHECK(contents_of(folder.file("b.npy")) == contents_of(golden("vector.npy")));
}

TEST_CASE("npy: a vector is written as NumPy writes it") {
    const temporary_folder folder;
    const std::vector<double> vector = golden_vector();
    krylith::save_vector<double>(folder.file("b.npy"), vector);
    CHECK(contents_of(folder.file("b.npy")) == contents_of(golden("vector.npy")));
    const std::vector<float> single = {0.5F, -2, 3};
    krylith::save_vector<float>(folder.file("s.npy"), single);
    CHECK(contents_of(folder.file("s.npy")) == contents_of(golden("vector_float32.npy")));
}
