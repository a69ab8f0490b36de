#include <krylith/matrix/conversions.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/tests/matrix/support/dense.hpp>
#include <krylith/tests/matrix/support/facts.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>

namespace {

using krylith::csr_matrix;
using krylith::make_spd;
using krylith::test::dense;
using krylith::test::to_dense;

std::string refused(const csr_matrix<double>& a) {
    return krylith::test::message_of<krylith::input_error>([&] { static_cast<void>(make_spd(a)); });
}

} // namespace

TEST_CASE("make_spd by hand: halves, missing diagonals, empty rows, kept diagonals") {
    // 3 at (0, 1), 1 at (1, 0), -2 at (1, 2), diagonal 50 at row 2; row 3 is empty.
    const csr_matrix<double> a{4, 4, {0, 1, 3, 4, 4}, {1, 0, 2, 2}, {3, 1, -2, 50}};
    const double grow = 1 + 1.0 / 64;
    CHECK(to_dense(make_spd(a)) ==
          dense{{2 * grow, 2, 0, 0}, {2, 3 * grow, -1, 0}, {0, -1, 50, 0}, {0, 0, 0, 1}});
    CHECK(make_spd(a).nnz() == 8);
    // A negative diagonal is no diagonal; zeros that are stored stay.
    const csr_matrix<double> b{2, 2, {0, 2, 3}, {0, 1, 1}, {-7, 0, 3}};
    CHECK(to_dense(make_spd(b)) == dense{{1, 0}, {0, 3}});
    CHECK(make_spd(b).nnz() == 4);
    CHECK(make_spd(csr_matrix<double>{}).rows == 0);
}

TEST_CASE("make_spd: symmetric, canonical and positive definite whatever it is given") {
    for (const char* spec :
         {"convection_diffusion:5:50", "rmat:7", "web:300", "kmer:200", "stokes2d:6", "nlpkkt:3",
          "helmholtz2d:12:40", "random:200:7", "fullchip:100", "road:8"}) {
        CAPTURE(spec);
        const auto s = make_spd(krylith::make_gallery<double>(spec));
        validate(s);
        CHECK(canonical(s));
        CHECK(krylith::test::symmetric(s));
        CHECK(krylith::test::eigenvalues(s)[0] > 0);
        CHECK(make_spd(s) == s);
        const auto single = make_spd(krylith::make_gallery<float>(spec));
        CHECK(krylith::test::symmetric(single));
        CHECK(single.column_indices == s.column_indices);
    }
    // A matrix that is dominant already is unchanged.
    const auto spd = krylith::random_spd<double>(100, 5, 1);
    CHECK(make_spd(spd).column_indices == spd.column_indices);
}

TEST_CASE("make_spd of huge and tiny values, and of what is no number") {
    const double huge = std::numeric_limits<double>::max();
    const csr_matrix<double> a{2, 2, {0, 1, 2}, {1, 0}, {huge, huge}};
    CHECK(make_spd(a).values[1] == huge); // adding first would make it infinite
    const csr_matrix<double> scaled{2, 2, {0, 1, 2}, {1, 0}, {0x3p600, 0x1p600}};
    CHECK(make_spd(scaled).values[1] == 0x1p601);
    const csr_matrix<double> nan{1, 1, {0, 1}, {0}, {std::nan("")}};
    CHECK(std::isnan(make_spd(nan).values[0]));
}

TEST_CASE("make_spd refuses what it can't mirror") {
    CHECK(refused({1, 2, {0, 1}, {0}, {1}}) ==
          "make_spd: the matrix is 1 x 2, allowed are square ones");
    CHECK(refused({2, 2, {0, 2, 2}, {1, 0}, {1, 1}}).find("ascend") != std::string::npos);
    CHECK(refused({2, 2, {0, 2, 2}, {1, 1}, {1, 1}}).find("ascend") != std::string::npos);
    CHECK(refused({2, 2, {0, 1, 1}, {5}, {1}}).find("column_indices[0]") != std::string::npos);
}
