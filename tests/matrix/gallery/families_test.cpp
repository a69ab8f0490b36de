// Properties of every family of the gallery: tables over all of them.
#include <krylith/matrix/gallery.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <omp.h>

#include <doctest/doctest.h>

#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/gallery/scramble.hpp>
#include <krylith/tests/matrix/support/dense.hpp>
#include <krylith/tests/matrix/support/facts.hpp>
#include <krylith/tests/matrix/support/specimens.hpp>

namespace {

using krylith::make_gallery;

using krylith::test::specimen;

const std::vector<specimen> usual_specimens{
    {"anisotropic3d:6:1e-3", 216, 1296, true, 0xdf1ecec1590fd4b},
    {"anisotropic_diffusion:9:0.01:30", 81, 625, true, 0xb5bfb17bd3c48d5d},
    {"convection_diffusion:6:10", 216, 1296, false, 0x6dbce9db6c7e49bb},
    {"delaunay:20:17", 340, 1894, true, 0x86e80a7e94d394d2},
    {"elasticity3d:4:3:2", 144, 6300, true, 0x46ada0abff96a075},
    {"elasticity3d:3:nu=0.45", 144, 6300, true, 0x86c8a97e9cb7fa5d},
    {"fullchip:1000", 1000, 9142, true, 0xf6b35278e830f02},
    {"helmholtz2d:12:20", 144, 672, true, 0xfe5a886e6e66d117},
    {"helmholtz3d:6:20:random=5", 216, 1296, true, 0xeb01ee6a4e7260ae},
    {"jump_diffusion:9:1e4:2", 729, 4617, true, 0x2bb7aac0e7209876},
    {"jump_diffusion:9:1e-3:3:seed=2", 729, 4617, true, 0x485dc901d9b53c7c},
    {"kmer:2000", 2000, 4228, true, 0xc491accac3047fb3},
    {"kron:9", 512, 9638, true, 0x3124ce08cd829bc5},
    {"nlpkkt:5", 400, 6697, true, 0x3244078677e8c970},
    {"poisson1d:50", 50, 148, true, 0xd2202343e95f4ff5},
    {"poisson2d:9:8:random=1", 72, 326, true, 0x2460815d316f6da1},
    {"poisson2d_9point:9:8", 72, 550, true, 0xfecef80c2d6d99ce},
    {"poisson3d:7:random=1", 343, 2107, true, 0x387ba05f9b3272ac},
    {"poisson3d_27point:5", 125, 2197, true, 0xe5890ba0e4e4694a},
    {"random:500:7", 500, 3500, false, 0xe4df60a973b56261},
    {"random_spd:500:7", 500, 3494, true, 0x3ac17e29de97898f},
    {"rgg:10", 1024, 6476, true, 0x436bbb07f1d17f30},
    {"rmat:9:8", 512, 3214, false, 0x9fe7596522f90880},
    {"road:20", 1218, 2740, true, 0xdd7cc8eadaae3249},
    {"rough_diffusion:9:1e6", 729, 4617, true, 0x8b8570c6eb0b99d0},
    {"stokes2d:12:9", 302, 1671, true, 0x803ae5cc04725997},
    {"web:2000", 2000, 28555, false, 0x8f8cdc1457d4ea17},
};

/// These, and those of tests of one family.
const std::vector<specimen>& specimens() {
    static const auto all = [] {
        auto result = usual_specimens;
        const auto& more = krylith::test::all_specimens();
        result.insert(result.end(), more.begin(), more.end());
        return result;
    }();
    return all;
}

std::string_view family(const specimen& s) {
    const std::string_view spec = s.spec;
    return spec.substr(0, spec.find(':'));
}

} // namespace

TEST_CASE("every family has a specimen") {
    for (const auto& entry : krylith::gallery_names()) {
        CHECK_MESSAGE(std::ranges::find(specimens(), entry.name, family) != specimens().end(),
                      std::string(entry.name));
    }
}

TEST_CASE("rows, nonzeros, symmetry and bits of every family are fixed for ever") {
    // A change of these changes every published benchmark; other bits on another machine mean that
    // a value comes from a function that isn't rounded the same everywhere.
    for (const specimen& s : specimens()) {
        CAPTURE(s.spec);
        const auto matrix = make_gallery<double>(s.spec);
        validate(matrix);
        CHECK(canonical(matrix));
        CHECK(matrix.rows == s.rows);
        CHECK(matrix.columns == s.rows);
        CHECK(matrix.nnz() == s.nnz);
        CHECK(krylith::test::symmetric(matrix) == s.symmetric);
        CHECK(krylith::test::checksum(matrix) == s.checksum);
    }
}

TEST_CASE("single precision has the same pattern, and the values rounded") {
    for (const specimen& s : specimens()) {
        CAPTURE(s.spec);
        const auto exact = make_gallery<double>(s.spec);
        const auto rounded = make_gallery<float>(s.spec);
        CHECK(rounded.row_offsets == exact.row_offsets);
        CHECK(rounded.column_indices == exact.column_indices);
        CHECK(krylith::test::symmetric(rounded) == s.symmetric);
        double worst = 0;
        for (std::size_t k = 0; k < exact.values.size(); ++k) {
            const double difference = static_cast<double>(rounded.values[k]) - exact.values[k];
            worst =
                std::max(worst, std::abs(difference) / std::max(std::abs(exact.values[k]), 1e-9));
        }
        CHECK(worst < 1e-5);
    }
}

TEST_CASE("every family has the same bits on one thread and on several") {
    const int before = omp_get_max_threads();
    for (const specimen& s : specimens()) {
        CAPTURE(s.spec);
        omp_set_num_threads(1);
        const auto one = make_gallery<double>(s.spec);
        const auto one_spd = make_spd(one);
        for (const int threads : {2, 5}) {
            omp_set_num_threads(threads);
            const auto several = make_gallery<double>(s.spec);
            CHECK(several == one);
            CHECK(make_spd(several) == one_spd);
        }
    }
    omp_set_num_threads(before);
}

TEST_CASE("seeds matter where the arguments offer one") {
    for (const specimen& s : specimens()) {
        CAPTURE(s.spec);
        const std::string arguments(krylith::gallery_named(family(s)).arguments);
        const std::string spec = s.spec;
        for (const std::string key : {"seed=", "random="}) {
            if (arguments.find(key) == std::string::npos || spec.find(key) != std::string::npos) {
                continue;
            }
            const auto one = make_gallery<double>(spec + ":" + key + "1");
            CHECK(one == make_gallery<double>(spec + ":" + key + "1"));
            CHECK_FALSE(one == make_gallery<double>(spec + ":" + key + "2"));
        }
    }
}

TEST_CASE("a scramble is a permutation, and its inverse undoes it") {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 64, 65, 1000, 4097}) {
        CAPTURE(n);
        const krylith::scramble shuffled(n, 5);
        std::vector<bool> hit(static_cast<std::size_t>(n), false);
        std::int64_t wrong = 0;
        std::int64_t fixed = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t j = shuffled.forward(i);
            REQUIRE(j >= 0);
            REQUIRE(j < n);
            hit[static_cast<std::size_t>(j)] = true;
            wrong += shuffled.backward(j) != i;
            fixed += i == j;
        }
        CHECK(wrong == 0);
        CHECK(std::ranges::count(hit, true) == n);
        CHECK((n < 64 || fixed < n / 8));
    }
}
