// Group tests of a table: a test case for each row, registered like KRYLITH_GROUP_TEST.
//
//     struct product_of_row {
//         static constexpr std::size_t count = operators::all.size();
//         static std::string name(std::size_t row);
//         static void run(const device_group& group, std::size_t row);
//     };
//     const bool registered = testing::register_rows<product_of_row>(__FILE__, __LINE__);
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <krylith/tests/support/groups.hpp>

namespace krylith::testing {

template <class Case, std::size_t... Rows>
bool register_rows(const char* file, unsigned line, std::index_sequence<Rows...>) {
    using doctest::detail::TestCase;
    static const std::vector<std::string> names = {Case::name(Rows)...,
                                                   Case::name(Rows) + " [cuda]" ...};
    const auto add = [&](void (*body)(), std::size_t name) {
        doctest::detail::regTest(
            TestCase(body, file, line, doctest_detail_test_suite_ns::getCurrentTestSuite()) *
            names[name].c_str());
    };
    (add([] { on_groups(host_groups(), [](const auto& group) { Case::run(group, Rows); }); }, Rows),
     ...);
    (add([] { on_groups(cuda_groups(), [](const auto& group) { Case::run(group, Rows); }); },
         sizeof...(Rows) + Rows),
     ...);
    return true;
}

/// Registers a test case for each of Case::count rows, on host devices and on CUDA devices.
template <class Case>
bool register_rows(const char* file, unsigned line) {
    return register_rows<Case>(file, line, std::make_index_sequence<Case::count>());
}

} // namespace krylith::testing
