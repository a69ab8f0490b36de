// Tests of code that runs on one device: on host devices of 1, 2, 3 and 5 threads (of 3 where
// one_group_is_enough()), and, under the name with [cuda], on a GPU.
//
//     KRYLITH_DEVICE_TEST("sparse vectors: clear") { sparse_vector<double> v(device, 3, 0); ... }
#pragma once

#include <functional>
#include <memory>

#include <doctest/doctest.h>

#include <krylith/device/device_group.hpp>

#include <krylith/tests/support/groups.hpp>

namespace krylith::testing {

inline void on_host_devices(const std::function<void(const std::shared_ptr<device>&)>& body) {
    for (const int threads : {1, 2, 3, 5}) {
        if (threads != 3 && one_group_is_enough()) continue;
        CAPTURE(threads);
        body(device_group::host(1, {.host_threads = threads}).handle(0));
    }
}

inline void on_cuda_device(const std::function<void(const std::shared_ptr<device>&)>& body) {
    body(cuda_groups().front().handle(0));
}

} // namespace krylith::testing

#define KRYLITH_DEVICE_TEST_WITH(body, name)                                                       \
    static void body(const std::shared_ptr<krylith::device>& device);                              \
    TEST_CASE(name) {                                                                              \
        krylith::testing::on_host_devices(body);                                                   \
    }                                                                                              \
    TEST_CASE(name " [cuda]") {                                                                    \
        krylith::testing::on_cuda_device(body);                                                    \
    }                                                                                              \
    static void body([[maybe_unused]] const std::shared_ptr<krylith::device>& device)

#define KRYLITH_DEVICE_TEST(name)                                                                  \
    KRYLITH_DEVICE_TEST_WITH(DOCTEST_ANONYMOUS(krylith_device_body_), name)
