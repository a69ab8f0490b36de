// krylith devices and gallery: what they print.
#include <filesystem>
#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <krylith/matrix/gallery.hpp>
#include <krylith/tests/support/cache_folder.hpp>
#include <krylith/tests/tools/support/command_run.hpp>

using krylith::test::contains;
using krylith::test::contents_of;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;
using nlohmann::json;

TEST_CASE("devices shows host devices with measured figures") {
    const temporary_folder folder;
    const auto result = run_krylith(folder, "devices --backend host --report r.json");
    REQUIRE_MESSAGE(result.status == 0, result.err);
    CHECK(contains(result.out, "host:0"));
    CHECK(contains(result.out, "host:0 to host:1"));
    CHECK_FALSE(contains(result.out, "cuda:"));
    const json host = json::parse(contents_of(folder.file("r.json"))).at("host");
    REQUIRE(host.at("devices").size() >= 2);
    for (const json& device : host["devices"])
        CHECK(device.at("copy_gigabytes_per_second").get<double>() > 0);
    CHECK(host.at("peers").size() == host["devices"].size() * (host["devices"].size() - 1));
    CHECK(host.at("all_reduce").size() == host["devices"].size());
    for (const json& row : host["all_reduce"]) CHECK(row.at("seconds").get<double>() > 0);
    CHECK(host.at("rates").size() == host["devices"].size() - 1);
}

TEST_CASE("devices measures rates and keeps them; solve uses them and measures nothing itself") {
    const temporary_folder folder;
    const krylith::testing::cache_folder cache;
    const auto rates_from = [&] {
        const auto result = run_krylith(
            folder, "solve gallery:poisson2d:10 --backend host --devices 2 --report r.json");
        REQUIRE_MESSAGE(result.status == 0, result.err);
        return json::parse(contents_of(folder.file("r.json")))
            .at("machine_rates")
            .get<std::string>();
    };
    CHECK(rates_from().starts_with("built in: "));
    CHECK_FALSE(std::filesystem::exists(cache.path));
    for (int k = 1; k <= 2; ++k) {
        const auto result = run_krylith(folder, "devices --backend host");
        REQUIRE_MESSAGE(result.status == 0, result.err);
        CHECK(contains(result.out, k == 1 ? "2 devices: one measurement, in "
                                          : "2 devices: median of 2 measurements, in "));
    }
    CHECK(rates_from().starts_with("median of 2 measurements, in "));
}

TEST_CASE("[cuda] devices shows every CUDA device") {
    const temporary_folder folder;
    const auto result = run_krylith(folder, "devices --backend cuda");
    REQUIRE_MESSAGE(result.status == 0, result.err);
    CHECK(contains(result.out, "cuda:0"));
    CHECK(contains(result.out, "GB/s"));
}

TEST_CASE("gallery names everything that can be generated") {
    const temporary_folder folder;
    const std::string out = run_krylith(folder, "gallery").out;
    for (const auto& entry : krylith::gallery_names())
        CHECK(contains(out, "\ngallery:" + std::string(entry.name) + ":"));
    for (const char* group : {"Laplacians", "Diffusion and waves", "Systems", "Graphs", "Random"})
        CHECK(contains(out, std::string(group) + "\n\n"));
}

TEST_CASE("gallery NAME gives the details of one, whole, in short lines") {
    const temporary_folder folder;
    for (const auto& entry : krylith::gallery_names()) {
        CAPTURE(std::string(entry.name));
        const auto result = run_krylith(folder, "gallery " + std::string(entry.name));
        CHECK(result.status == 0);
        std::istringstream lines(result.out);
        std::string text;
        for (std::string line; std::getline(lines, line);) {
            CHECK(line.size() <= 100);
            if (!text.empty()) text += ' ';
            text.append(line, line.find_first_not_of(' '));
        }
        CHECK(text.ends_with(std::string(entry.details)));
    }
    const auto wrong = run_krylith(folder, "gallery poison3d");
    CHECK(wrong.status == 2);
    CHECK(contains(wrong.err, "did you mean poisson3d?"));
}
