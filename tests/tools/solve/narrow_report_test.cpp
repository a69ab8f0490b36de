// Summaries and reports say which fraction of the values is stored narrow.
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <krylith/tests/tools/support/command_run.hpp>
#include <krylith/tools/solve/operator_report.hpp>

using krylith::test::contents_of;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;
using krylith::tool::format_in_words;
using nlohmann::json;

TEST_CASE("narrow values: in words") {
    CHECK(format_in_words("csr", 0) == "csr");
    CHECK(format_in_words("sell", 1) == "sell (100% of the values narrow)");
    CHECK(format_in_words("sell", 0.4375) == "sell (43.8% of the values narrow)");
}

TEST_CASE("narrow values: solve and spmv report the fraction [cuda]") {
    const temporary_folder folder;
    for (const std::string command : {"solve", "spmv"}) {
        CAPTURE(command);
        const auto result = run_krylith(folder, command + " gallery:elasticity3d:10 --format sell "
                                                          "--backend cuda --report out.json");
        REQUIRE_MESSAGE(result.status == 0, result.err);
        CHECK(result.out.find("format sell (100% of the values narrow)") != std::string::npos);
        CHECK(json::parse(contents_of(folder.file("out.json"))).at("narrow_fraction") == 1);
    }
}
