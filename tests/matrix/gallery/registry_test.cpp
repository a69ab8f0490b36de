#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>

namespace {

using krylith::random_scaling;

void check_spec_refused(const std::string& spec, const std::string& what) {
    const std::string message = krylith::test::message_of<krylith::usage_error>(
        [&] { static_cast<void>(krylith::make_gallery<double>(spec)); });
    CAPTURE(message);
    CHECK(message.find("gallery:" + spec + ": ") == 0);
    CHECK(message.find(what) != std::string::npos);
}

} // namespace

TEST_CASE("specs name the generators and their arguments") {
    using krylith::make_gallery;
    CHECK(make_gallery<double>("poisson2d:4") == krylith::poisson2d<double>(4));
    CHECK(make_gallery<double>("poisson2d:4:3") == krylith::poisson2d<double>(4, 3));
    CHECK(make_gallery<double>("poisson2d:4:3:random=9") ==
          krylith::poisson2d<double>(4, 3, random_scaling{9}));
    CHECK(make_gallery<float>("poisson2d:random=9:4") ==
          krylith::poisson2d<float>(4, random_scaling{9}));
    CHECK(make_gallery<double>("poisson3d:4") == krylith::poisson3d<double>(4));
    CHECK(make_gallery<double>("poisson3d:2:3:4") == krylith::poisson3d<double>(2, 3, 4));
    CHECK(make_gallery<double>("poisson3d:4:random=0") ==
          krylith::poisson3d<double>(4, random_scaling{0}));
    CHECK(make_gallery<double>("poisson3d_27point:3") == krylith::poisson3d_27point<double>(3));
    CHECK(make_gallery<double>("poisson3d_27point:3:1:2:random=18446744073709551615") ==
          krylith::poisson3d_27point<double>(3, 1, 2, random_scaling{~std::uint64_t{0}}));
    CHECK(make_gallery<double>("convection_diffusion:4:2.5e1") ==
          krylith::convection_diffusion<double>(4, 25));
    CHECK(make_gallery<double>("convection_diffusion:4:1:random=3") ==
          krylith::convection_diffusion<double>(4, 1, random_scaling{3}));
    CHECK(make_gallery<double>("random_spd:50:4") == krylith::random_spd<double>(50, 4, 1));
    CHECK(make_gallery<float>("random_spd:50:4:8") == krylith::random_spd<float>(50, 4, 8));
    CHECK(make_gallery<double>("poisson1d:5") == krylith::poisson1d<double>(5));
    CHECK(make_gallery<double>("poisson2d_9point:5:4") == krylith::poisson2d_9point<double>(5, 4));
    CHECK(make_gallery<double>("anisotropic_diffusion:5:0.1:30:random=2") ==
          krylith::anisotropic_diffusion<double>(5, 0.1, 30, random_scaling{2}));
    CHECK(make_gallery<double>("helmholtz2d:5:7") == krylith::helmholtz2d<double>(5, 7));
    CHECK(make_gallery<double>("helmholtz3d:5:7") == krylith::helmholtz3d<double>(5, 7));
    CHECK(make_gallery<double>("jump_diffusion:16:9") == krylith::jump_diffusion<double>(16, 9, 2));
    CHECK(make_gallery<double>("jump_diffusion:6:9:3:seed=4") ==
          krylith::jump_diffusion<double>(6, 9, 3, 4));
    CHECK(make_gallery<double>("elasticity3d:2") == krylith::elasticity3d<double>(2, 2, 2));
    CHECK(make_gallery<double>("elasticity3d:2:3:4:nu=0.4") ==
          krylith::elasticity3d<double>(2, 3, 4, 0.4));
    CHECK(make_gallery<double>("stokes2d:3:4") == krylith::stokes2d<double>(3, 4));
    CHECK(make_gallery<double>("nlpkkt:3") == krylith::nlpkkt<double>(3));
    CHECK(make_gallery<double>("delaunay:9:8:seed=5") == krylith::delaunay<double>(9, 8, 5));
    CHECK(make_gallery<double>("kron:5:4:seed=5") == krylith::kron<double>(5, 4, 5));
    CHECK(make_gallery<double>("rmat:5") == krylith::rmat<double>(5, 16, 1));
    CHECK(make_gallery<double>("web:99:5:seed=5") == krylith::web<double>(99, 5, 5));
    CHECK(make_gallery<double>("random:50:4:8") == krylith::random_uniform<double>(50, 4, 8));
}

TEST_CASE("every name is listed once, with arguments and a line of help") {
    const auto names = krylith::gallery_names();
    CHECK(names.size() >= 23);
    // They ascend, and no two are the same.
    CHECK(std::ranges::adjacent_find(names, std::ranges::greater_equal(),
                                     &krylith::gallery_entry::name) == names.end());
    for (const auto& entry : names) {
        CAPTURE(std::string(entry.name));
        CHECK_FALSE(entry.arguments.empty());
        const auto example = krylith::make_gallery<double>(std::string(entry.name) + ":" +
                                                           std::string(entry.example));
        CHECK(example.rows > 0);
        CHECK(example.rows < 10'000);
        CHECK(entry.details.size() > 60);
        CHECK(&krylith::gallery_named(entry.name) == &entry);
        CHECK(entry.help.size() > 20);
        CHECK(entry.help.size() < 100);
        CHECK(entry.help.find('\n') == std::string_view::npos);
        check_spec_refused(std::string(entry.name), "too few arguments, allowed is " +
                                                        std::string(entry.name) + ":" +
                                                        std::string(entry.arguments));
    }
}

TEST_CASE("unknown names are refused with the nearest") {
    check_spec_refused("poison3d:4", "did you mean poisson3d?");
    check_spec_refused("poisson3d27:4", "did you mean poisson3d_27point?");
    check_spec_refused("Poisson2D:4", "did you mean poisson2d?");
    check_spec_refused("randm:4:4", "did you mean random?");
    check_spec_refused(
        "", "Allowed: anisotropic3d, anisotropic_diffusion, convection_diffusion, delaunay");
    check_spec_refused(":4", "unknown matrix \"\"");
}

TEST_CASE("bad arguments are refused by name") {
    check_spec_refused("poisson2d:", "NX is \"\", allowed are whole numbers from 1 to 2147483647");
    check_spec_refused("poisson2d:0", "NX is \"0\"");
    check_spec_refused("poisson2d:-4", "NX is \"-4\"");
    check_spec_refused("poisson2d:4x", "NX is \"4x\"");
    check_spec_refused("poisson2d:4.0", "NX is \"4.0\"");
    check_spec_refused("poisson2d:99999999999999999999", "NX is \"99999999999999999999\"");
    check_spec_refused("poisson2d:4:y", "NY is \"y\"");
    check_spec_refused("poisson2d:4:4:4", "too many arguments, allowed is poisson2d:NX[:NY]");
    check_spec_refused("poisson3d:4:4", "NY without NZ");
    check_spec_refused("poisson3d:4:4:0", "NZ is \"0\"");
    check_spec_refused("poisson3d:4:random=", "random= is \"\"");
    check_spec_refused("poisson3d:4:random=-1", "random= is \"-1\"");
    check_spec_refused("poisson3d:4:random=x", "random= is \"x\"");
    check_spec_refused("poisson3d:4:random=18446744073709551616",
                       "random= is \"18446744073709551616\"");
    check_spec_refused("poisson3d:4:random=1:random=2", "stands twice");
    check_spec_refused("poisson3d:4:seed=1",
                       "seed= is not known here, allowed is poisson3d:NX[:NY:NZ]");
    check_spec_refused("convection_diffusion:4", "too few arguments");
    check_spec_refused("convection_diffusion:4:-1", "PECLET is \"-1\", allowed are finite numbers");
    check_spec_refused("convection_diffusion:4:inf", "PECLET is \"inf\"");
    check_spec_refused("convection_diffusion:4:fast", "PECLET is \"fast\"");
    check_spec_refused("anisotropic_diffusion:4:0",
                       "EPSILON is \"0\", allowed are numbers from 1e-12 to 1e+12");
    check_spec_refused("anisotropic_diffusion:4:nan", "EPSILON is \"nan\"");
    check_spec_refused("anisotropic_diffusion:4:1:361", "DEGREES is \"361\"");
    check_spec_refused("helmholtz2d:4:-1", "K is \"-1\"");
    check_spec_refused("jump_diffusion:8:1:9",
                       "BLOCK is \"9\", allowed are whole numbers from 1 to 8");
    check_spec_refused("jump_diffusion:8:inf", "KAPPA is \"inf\"");
    check_spec_refused("elasticity3d:2:nu=0.5",
                       "nu= is \"0.5\", allowed are numbers from 0 to 0.4999");
    check_spec_refused("elasticity3d:2:nu=", "nu= is \"\"");
    check_spec_refused("elasticity3d:2:2", "NY without NZ");
    check_spec_refused("nlpkkt:1", "N is \"1\", allowed are whole numbers from 2 to 1023");
    check_spec_refused("kron:31", "K is \"31\"");
    check_spec_refused("rmat:4:0", "EDGE_FACTOR is \"0\"");
    check_spec_refused("road:17516", "N is \"17516\"");
    check_spec_refused("web:1", "N is \"1\"");
    check_spec_refused("web:10:1", "MEAN is \"1\"");
    check_spec_refused("fullchip:15", "N is \"15\"");
    check_spec_refused("kmer:2:seed=x", "seed= is \"x\"");
    check_spec_refused("kmer:2:random=1", "random= is not known here");
    check_spec_refused("random_spd:4:0",
                       "NNZ_PER_ROW is \"0\", allowed are whole numbers from 1 to 256");
    check_spec_refused("random_spd:4:257", "NNZ_PER_ROW is \"257\"");
    check_spec_refused("random_spd:4:4:-1", "SEED is \"-1\"");
    check_spec_refused("random_spd:4:4:random=1", "random= is not known here");
}
