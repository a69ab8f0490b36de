#include <filesystem>
#include <string>

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <zlib.h>

#include <krylith/device/error.hpp>
#include <krylith/device/libraries/shared_library.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

namespace krylith {

namespace {

const shared_library missing = {.name = "Missing",
                                .file = "libkrylith-has-no-such-library.so.7",
                                .other = "/nowhere/libkrylith-has-no-such-library.so",
                                .needs = "install it, or take another: allowed is zlib"};
const shared_library zlib = {.name = "zlib", .file = "libz.so.1", .other = "", .needs = "?"};
/// Found at its second place alone.
const shared_library elsewhere = {
    .name = "zlib", .file = "libkrylith-other-name.so.1", .other = "libz.so.1", .needs = "?"};

KRYLITH_LOADED(zlib, zlibVersion);
constexpr loaded_function<int(int)> absent(zlib, "no_such_function");
constexpr loaded_function<int(int)> of_missing(missing, "any_function");

} // namespace

TEST_CASE("shared libraries: a function is that of the library") {
    CHECK(zlib.there());
    CHECK_NOTHROW(zlib.require());
    CHECK(std::string(zlibVersion()) == std::string(::zlibVersion()));
    CHECK(elsewhere.there());
}

TEST_CASE("shared libraries: folders are looked in, also for what was missing") {
    const shared_library other = {
        .name = "Other", .file = "libkrylith-in-a-folder.so.1", .other = "", .needs = "?"};
    CHECK_FALSE(other.there());
    const test::temporary_folder folder;
    Dl_info zlib_file;
    REQUIRE(dladdr(reinterpret_cast<void*>(&::zlibVersion), &zlib_file) != 0);
    std::filesystem::create_symlink(zlib_file.dli_fname, folder.file(other.file));
    look_for_libraries_in("/nowhere");
    look_for_libraries_in(folder.file("").string());
    CHECK(other.there());
}

TEST_CASE("shared libraries: what is missing is named, with the reason and what to do") {
    CHECK_FALSE(missing.there());
    for (int time = 0; time < 2; ++time) {
        CHECK_THROWS_WITH_AS(missing.require(),
                             doctest::Contains("Missing can't be loaded "
                                               "(libkrylith-has-no-such-library.so.7: "),
                             usage_error);
        CHECK_THROWS_WITH_AS((void)of_missing(1),
                             doctest::Contains("install it, or take another: allowed is zlib"),
                             usage_error);
    }
    CHECK_THROWS_WITH_AS((void)absent(1),
                         doctest::Contains("libz.so.1 has no function no_such_function"),
                         usage_error);
}

} // namespace krylith
