// Group tests. Every test of what runs on devices has one body, a function of a device group. It is
// registered twice: for groups of host devices, and under the name with [cuda] for groups of CUDA
// devices.
//
//     KRYLITH_GROUP_TEST("fused updates: all shapes") { execution run(group, {}); ... }
//
// The [cuda] case is for machines with a GPU. Elsewhere it fails, because a skipped test looks like
// a passed one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/device_group.hpp>

namespace krylith::testing {

/// Whether the environment has KRYLITH_TEST_ONE_GROUP, as ctest sets it under sanitizers: a test
/// takes ten times as long there, and 3 devices (of which some own no rows where the matrix is
/// small), or one of 3 threads, show what others would.
[[nodiscard]] bool one_group_is_enough();

/// Returns groups of 1, 2, 3, 4 and 7 host devices, and of 3 whose copies are staged; where
/// one_group_is_enough(), of 3.
[[nodiscard]] std::vector<device_group> host_groups();

/// Returns groups of 1, 2, 3 and all CUDA devices, and of 2 whose copies are staged. Where there
/// are too few, a physical device stands for several. Throws where there is none.
[[nodiscard]] std::vector<device_group> cuda_groups();

/// Returns a group of one device of the same kind.
[[nodiscard]] device_group one_device_like(const device_group& group);

/// Returns text such as "3 host devices, staged".
[[nodiscard]] std::string describe(const device_group& group);

/// Returns a name for messages of tests, where a char* is shown as an address.
template <class Enum>
[[nodiscard]] std::string name_of(Enum value) {
    return to_string(value);
}

/// Runs the body on each group and reports the group on which it failed.
void on_groups(const std::vector<device_group>& groups,
               const std::function<void(const device_group&)>& body);

} // namespace krylith::testing

#define KRYLITH_GROUP_TEST_WITH(body, name)                                                        \
    static void body(const krylith::device_group& group);                                          \
    TEST_CASE(name) {                                                                              \
        krylith::testing::on_groups(krylith::testing::host_groups(), body);                        \
    }                                                                                              \
    TEST_CASE(name " [cuda]") {                                                                    \
        krylith::testing::on_groups(krylith::testing::cuda_groups(), body);                        \
    }                                                                                              \
    static void body([[maybe_unused]] const krylith::device_group& group)

#define KRYLITH_GROUP_TEST(name) KRYLITH_GROUP_TEST_WITH(DOCTEST_ANONYMOUS(krylith_body_), name)
