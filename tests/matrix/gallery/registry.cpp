#include <algorithm>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/tests/matrix/message_of.hpp>

namespace {

krylith::random_scaling seed(std::uint64_t s) {
    return {s};
}

void check_refused(const std::string& spec, const std::string& what) {
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
          krylith::poisson2d<double>(4, 3, seed(9)));
    CHECK(make_gallery<float>("poisson2d:random=9:4") == krylith::poisson2d<float>(4, seed(9)));
    CHECK(make_gallery<double>("poisson3d:4") == krylith::poisson3d<double>(4));
    CHECK(make_gallery<double>("poisson3d:2:3:4") == krylith::poisson3d<double>(2, 3, 4));
    CHECK(make_gallery<double>("poisson3d:4:random=0") == krylith::poisson3d<double>(4, seed(0)));
    CHECK(make_gallery<double>("poisson3d_27point:3") == krylith::poisson3d_27point<double>(3));
    CHECK(make_gallery<double>("poisson3d_27point:3:1:2:random=18446744073709551615") ==
          krylith::poisson3d_27point<double>(3, 1, 2, seed(~std::uint64_t{0})));
    CHECK(make_gallery<double>("convection_diffusion:4:2.5e1") ==
          krylith::convection_diffusion<double>(4, 25));
    CHECK(make_gallery<double>("convection_diffusion:4:1:random=3") ==
          krylith::convection_diffusion<double>(4, 1, seed(3)));
    CHECK(make_gallery<double>("random_spd:50:4") == krylith::random_spd<double>(50, 4, 1));
    CHECK(make_gallery<float>("random_spd:50:4:8") == krylith::random_spd<float>(50, 4, 8));
}

TEST_CASE("every name is listed once, with arguments and a line of help") {
    const auto names = krylith::gallery_names();
    CHECK(names.size() == 5);
    CHECK(std::ranges::is_sorted(names, {}, &krylith::gallery_entry::name));
    for (const auto& entry : names) {
        CAPTURE(std::string(entry.name));
        CHECK_FALSE(entry.arguments.empty());
        CHECK(entry.help.size() > 20);
        CHECK(entry.help.size() < 100);
        CHECK(entry.help.find('\n') == std::string_view::npos);
        check_refused(std::string(entry.name), "too few arguments, allowed is " +
                                                   std::string(entry.name) + ":" +
                                                   std::string(entry.arguments));
    }
}

TEST_CASE("unknown names are refused with the nearest") {
    check_refused("poison3d:4", "did you mean poisson3d?");
    check_refused("poisson3d27:4", "did you mean poisson3d?");
    check_refused("Poisson2D:4", "did you mean poisson2d?");
    check_refused("random:4:4", "did you mean random_spd?");
    check_refused("", "Allowed: convection_diffusion, poisson2d");
    check_refused(":4", "unknown matrix \"\"");
}

TEST_CASE("bad arguments are refused by name") {
    check_refused("poisson2d:", "NX is \"\", allowed are whole numbers from 1 to 2147483647");
    check_refused("poisson2d:0", "NX is \"0\"");
    check_refused("poisson2d:-4", "NX is \"-4\"");
    check_refused("poisson2d:4x", "NX is \"4x\"");
    check_refused("poisson2d:4.0", "NX is \"4.0\"");
    check_refused("poisson2d:99999999999999999999", "NX is \"99999999999999999999\"");
    check_refused("poisson2d:4:y", "NY is \"y\"");
    check_refused("poisson2d:4:4:4", "too many arguments, allowed is poisson2d:NX[:NY]");
    check_refused("poisson3d:4:4", "NY without NZ");
    check_refused("poisson3d:4:4:0", "NZ is \"0\"");
    check_refused("poisson3d:4:random=", "random= is \"\"");
    check_refused("poisson3d:4:random=-1", "random= is \"-1\"");
    check_refused("poisson3d:4:random=x", "random= is \"x\"");
    check_refused("poisson3d:4:random=18446744073709551616", "random= is \"18446744073709551616\"");
    check_refused("poisson3d:4:random=1:random=2", "stands twice");
    check_refused("poisson3d:4:seed=1", "NY without NZ");
    check_refused("convection_diffusion:4", "too few arguments");
    check_refused("convection_diffusion:4:-1", "PECLET is \"-1\", allowed are finite numbers");
    check_refused("convection_diffusion:4:inf", "PECLET is \"inf\"");
    check_refused("convection_diffusion:4:fast", "PECLET is \"fast\"");
    check_refused("random_spd:4:0",
                  "NNZ_PER_ROW is \"0\", allowed are whole numbers from 1 to 256");
    check_refused("random_spd:4:257", "NNZ_PER_ROW is \"257\"");
    check_refused("random_spd:4:4:-1", "SEED is \"-1\"");
    check_refused("random_spd:4:4:random=1", "random=SEED, allowed is the SEED");
}
