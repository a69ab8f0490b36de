// The page of a report, made of its JSON.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <krylith/tests/tools/support/command_run.hpp>
#include <krylith/tools/report/html.hpp>
#include <krylith/tools/report/report_bars.hpp>
#include <krylith/tools/report/report_fields.hpp>
#include <krylith/tools/report/report_page.hpp>

using krylith::test::contains;
using krylith::tool::html_report;
using krylith::tool::page_entry;
using ordered_json = nlohmann::ordered_json;

TEST_CASE("page: text is escaped, and bytes that no page may have are spelt out") {
    CHECK(krylith::tool::html::text("a<b>&\"c\"'d'") == "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;");
    CHECK(krylith::tool::html::text("a\x01\n\xff") == "a\\x01\\n\\xff");
}

TEST_CASE("page: a report may lack any field, and may have new ones") {
    const std::vector<page_entry> nothing = {{ordered_json::object(), ""}};
    CHECK(contains(html_report(nothing), "</html>"));
    const std::vector<page_entry> odd = {{ordered_json{{"matrix", {{"name", "a.mtx"}}},
                                                       {"history", {1.0, nullptr, 1e-9}},
                                                       {"bytes_per_device", ordered_json::array()},
                                                       {"something_new", {{"inside", "a < b"}}},
                                                       {"warnings", {"look out"}}},
                                          ""}};
    const std::string page = html_report(odd);
    CHECK(contains(page, "something_new/inside"));
    CHECK(contains(page, "a &lt; b"));
    CHECK(contains(page, "Warning: look out"));
    CHECK_FALSE(contains(page, "nan"));
    CHECK(contains(html_report({}), "0 solves"));
}

TEST_CASE("page: fields read as people write them") {
    const ordered_json report = {{"rhs_norm", 1234.5},
                                 {"solve_seconds", 0.0123},
                                 {"devices", {"x", "y"}},
                                 {"empty", ""},
                                 {"none", nullptr}};
    using krylith::tool::field_kind;
    using krylith::tool::in_words;
    CHECK(in_words(report, {"", "/rhs_norm", field_kind::scientific}) == "1.234e+03");
    CHECK(in_words(report, {"", "/solve_seconds", field_kind::seconds}) == "12.3 ms");
    CHECK(in_words(report, {"", "/devices"}) == "x; y");
    for (const char* absent : {"/empty", "/none", "/absent", "/devices/7"})
        CHECK_FALSE(in_words(report, {"", absent}).has_value());
}

TEST_CASE("page: bars are as long as what they show") {
    const ordered_json report = {
        {"load_seconds", 1.0},
        {"solve_seconds", 4.0},
        {"bytes_per_device", {{{"matrix", 300}, {"vectors", 100}, {"total", 400}}}}};
    const std::string time = krylith::tool::time_bars(report);
    CHECK(contains(time, "width:25.000%"));
    CHECK(contains(time, "width:100.000%"));
    const std::string memory = krylith::tool::memory_bars(report);
    CHECK(contains(memory, "width:75.000%"));
    CHECK(contains(memory, "400 bytes: matrix 300 bytes, vectors 100 bytes"));
}
