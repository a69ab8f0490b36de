// What krylith bench graph --oracle reckons from the times of kernels.
#include <krylith/bench/graph/graph_oracle.hpp>

#include <doctest/doctest.h>

#include <krylith/bench/graph/graph_run.hpp>

namespace krylith::bench {

namespace {

using spmspv::kernel;
using spmspv::product_record;

product_record product_of(kernel used, double spmv, double column) {
    product_record product;
    product.used = used;
    product.rehearsed.fill(1);
    product.rehearsed[static_cast<std::size_t>(kernel::spmv)] = spmv;
    product.rehearsed[static_cast<std::size_t>(kernel::column_sort)] = column;
    product.parts = {.features = 1e-6, .model = 2e-6, .conversions = 3e-6, .kernel = spmv};
    return product;
}

json oracle_row_of(const std::string& algorithm) {
    return {{"matrix", "m"}, {"algorithm", algorithm}, {"devices", 1}, {"contestant", "oracle"}};
}

} // namespace

TEST_CASE("graph oracle: shares of right choices and losses over all steps") {
    graph_timing timing;
    timing.outcomes.resize(2);
    graph_step first;
    first.products = {product_of(kernel::spmv, 0.25, 0.5)}; // the fastest
    graph_step second;
    second.products = {product_of(kernel::spmv, 0.26, 0.25),         // within 5%
                       product_of(kernel::column_sort, 0.25, 0.75)}; // wrong
    timing.outcomes[0].steps = {first, second};
    timing.outcomes[1].steps = {first};
    const json row = judge_choices(timing, oracle_row_of("bfs"));
    CHECK(row["products"] == 4);
    CHECK(row["right"].get<double>() == doctest::Approx(0.75));
    CHECK(row["strictly"].get<double>() == doctest::Approx(0.5));
    CHECK(row["loss"].get<double>() == doctest::Approx(1.51 / 1 - 1));
    CHECK(row["losses"]["spmv"].get<double>() == doctest::Approx(0.01));
    CHECK(row["losses"]["column-sort"].get<double>() == doctest::Approx(1));
    CHECK(row["losses"]["row"].get<double>() == doctest::Approx(3));
    CHECK(row["parts_us"]["conversions"].get<double>() == doctest::Approx(3));
    CHECK(row["parts_us"]["kernel"].get<double>() == doctest::Approx(1.01e6 / 4));
    CHECK(row["by_step"].size() == 3); // of the first run alone
    CHECK(row["by_step"][1]["us"][0].get<double>() == doctest::Approx(0.26e6));
    CHECK(row["void_because"].empty());
    CHECK(oracle_line(row).find("right 75.0% (fastest 50.0%), loss 51.0%, always spmv: 1.0%") !=
          std::string::npos);

    json other = row;
    other["right"] = 0.25;
    other["loss"] = 0.11;
    json wrong = row;
    wrong["void_because"] = {"differs"};
    const json summary = oracle_summary({row, other, wrong});
    REQUIRE(summary.size() == 1);
    CHECK(summary[0]["graphs"] == 2);
    CHECK(summary[0]["right"].get<double>() == doctest::Approx(0.5));
    CHECK(summary[0]["loss"].get<double>() == doctest::Approx(0.31));
    timing.wrong = "differs";
    CHECK(is_void(judge_choices(timing, oracle_row_of("bfs"))));
}

TEST_CASE("graph oracle: a run judges every algorithm") {
    graph_request request;
    request.matrices = {"gallery:rmat:8:6"};
    request.oracle = true;
    request.repetitions = 1;
    request.sources = 1;
    request.devices.backend = "host";
    CHECK(graph_run(request).run());
}

} // namespace krylith::bench
