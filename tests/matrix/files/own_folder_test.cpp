// The cache folder: only the user's own is used, and no link in it is followed.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/own_folder.hpp>
#include <krylith/matrix/files/tuning_file.hpp>
#include <krylith/spmspv/kernel_model.hpp>

#include <krylith/tests/matrix/support/temporary_folder.hpp>
#include <krylith/tests/support/cache_folder.hpp>

namespace krylith {

using test::contents_of;
using test::mode_of;

namespace {

const tuning_key key{"m", 1, "operator fp64"};

} // namespace

TEST_CASE("tuning file: the folder is made for its user alone") {
    const testing::cache_folder cache;
    CHECK(keep_tuned(key, "halo").empty());
    CHECK(mode_of(cache.path) == 0700U);
    CHECK(mode_of(tuning_file("m")) == 0600U);
}

TEST_CASE("tuning file: a symbolic link in its place is neither read nor written through") {
    const testing::cache_folder cache;
    const test::temporary_folder elsewhere;
    CHECK(keep_tuned(key, "halo").empty());
    const auto target = elsewhere.write("precious", contents_of(tuning_file("m")));
    const std::string before = contents_of(target);
    std::filesystem::remove(tuning_file("m"));
    std::filesystem::create_symlink(target, tuning_file("m"));
    CHECK_FALSE(recall_tuned(key));
    CHECK(why_not_recalled("m").find("is not used") != std::string::npos);
    CHECK(keep_tuned(key, "allgather").empty());
    CHECK(contents_of(target) == before);
    CHECK_FALSE(std::filesystem::is_symlink(tuning_file("m")));
    CHECK(recall_tuned(key) == "allgather");
}

TEST_CASE("tuning file: what others may write is not used, and that is said") {
    const testing::cache_folder cache;
    CHECK(keep_tuned(key, "halo").empty());
    REQUIRE(chmod(tuning_file("m").c_str(), 0660) == 0);
    CHECK_FALSE(recall_tuned(key));
    CHECK(why_not_recalled("m").find("chmod go-w") != std::string::npos);
    REQUIRE(chmod(tuning_file("m").c_str(), 0600) == 0);
    CHECK(recall_tuned(key) == "halo");
    REQUIRE(chmod(cache.path.c_str(), 0777) == 0);
    CHECK_FALSE(recall_tuned(key));
    CHECK(keep_tuned(key, "allgather").find("chmod go-w") != std::string::npos);
    REQUIRE(chmod(cache.path.c_str(), 0755) == 0);
    CHECK(recall_tuned(key) == "halo");
    if (geteuid() != 0) return; // only root can give a folder away
    REQUIRE(chown(cache.path.c_str(), 65534, 65534) == 0);
    CHECK_FALSE(recall_tuned(key));
    CHECK(keep_tuned(key, "allgather").find("belongs to user 65534") != std::string::npos);
}

TEST_CASE("kernel models: only regular files of a bounded size are read") {
    const test::temporary_folder folder;
    CHECK_THROWS_WITH_AS((void)spmspv::load_model("/dev/zero"),
                         "/dev/zero: can't be read: it is not a regular file", input_error);
    REQUIRE(mkfifo(folder.file("pipe").c_str(), 0600) == 0);
    CHECK_THROWS_AS((void)spmspv::load_model(folder.file("pipe")), input_error);
    const auto large = folder.write("large", "");
    std::filesystem::resize_file(large, most_text_bytes + 1);
    CHECK_THROWS_WITH_AS((void)spmspv::load_model(large), doctest::Contains("has more than"),
                         input_error);
    CHECK_THROWS_AS((void)spmspv::load_model(folder.file("missing")), input_error);
}

} // namespace krylith
