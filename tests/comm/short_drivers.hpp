// Memory that is exhausted for one of two drivers.
#pragma once

#include <exception>
#include <functional>
#include <optional>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/tests/comm/drivers.hpp>
#include <krylith/tests/support/short_memory.hpp>

namespace krylith::testing {

/// Two drivers, of 1 and 2 host devices, prepare and then work, while one allocation of the driver
/// of `rank` is refused: number 0, `stride`, 2 * `stride` and so on, until there is none of that
/// number, which must be above `least`. Both must throw what it throws, and work afterwards.
inline void
check_short_memory(int rank, int stride, int least,
                   const std::function<std::function<void()>(const communicator&)>& prepare) {
    bool refused = true;
    for (int number = 0; refused; number += stride) {
        const auto thrown = with_drivers({device_group::host(1), device_group::host(2)},
                                         [&](const communicator& comm) {
                                             const std::function<void()> work = prepare(comm);
                                             std::exception_ptr failure;
                                             {
                                                 std::optional<short_memory> memory;
                                                 if (comm.is_local(rank))
                                                     memory.emplace(comm.devices(), number);
                                                 try {
                                                     comm.together(work);
                                                 } catch (...) {
                                                     failure = std::current_exception();
                                                 }
                                             }
                                             comm.together(work);
                                             if (failure) std::rethrow_exception(failure);
                                         });
        refused = thrown[0] != nullptr;
        CHECK(refused == (thrown[1] != nullptr));
        for (const auto& one : thrown)
            if (one)
                CHECK_THROWS_WITH_AS(std::rethrow_exception(one), doctest::Contains("refused"),
                                     device_error);
        CHECK((refused || number > least));
    }
}

} // namespace krylith::testing
