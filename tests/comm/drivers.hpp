// Ranks that are dealt to two communicators, each with a thread that sees its own devices alone.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/comm/communicator.hpp>
#include <krylith/comm/driver_link.hpp>

namespace krylith::testing {

/// How with_drivers() treats drivers.
inline communicator_options treated_as = {};

/// While one lives, they are treated so.
class drivers_treated_as {
public:
    explicit drivers_treated_as(const communicator_options& options) { treated_as = options; }
    drivers_treated_as(const drivers_treated_as&) = delete;
    drivers_treated_as& operator=(const drivers_treated_as&) = delete;
    ~drivers_treated_as() { treated_as = {}; }
};

/// Calls work(comm) in a thread for each group, with a communicator of all of them. Returns what
/// each threw, null where it threw nothing.
inline std::vector<std::exception_ptr>
with_drivers(const std::vector<device_group>& groups,
             const std::function<void(const communicator&)>& work, double timeout_seconds = 60) {
    auto links = link_threads(static_cast<int>(groups.size()), timeout_seconds);
    std::vector<std::exception_ptr> thrown(groups.size());
    std::vector<std::thread> threads;
    for (std::size_t k = 0; k < groups.size(); ++k)
        threads.emplace_back([&, k] {
            try {
                work(communicator(groups[k], std::exchange(links[k], nullptr), treated_as));
            } catch (...) {
                thrown[k] = std::current_exception();
            }
        });
    for (std::thread& thread : threads) thread.join();
    return thrown;
}

/// The drivers and the devices of each that KRYLITH_TEST_DRIVERS names, as 3x2, in place of those
/// of the test; nothing without.
inline std::optional<std::vector<int>> named_drivers() {
    const char* const named = std::getenv("KRYLITH_TEST_DRIVERS");
    if (named == nullptr) return std::nullopt;
    int drivers = 0;
    int devices = 0;
    REQUIRE(std::sscanf(named, "%dx%d", &drivers, &devices) == 2);
    REQUIRE(std::min(drivers, devices) > 0);
    return std::vector<int>(static_cast<std::size_t>(drivers), devices);
}

/// A group, and the same devices dealt to several.
struct dealt_group {
    device_group whole;
    std::vector<device_group> parts;

    /// `sizes` are those of the parts. CUDA devices stand for several where there are too few.
    /// Drivers on several machines have no staged copies.
    [[nodiscard]] static dealt_group of(backend kind, std::vector<int> sizes,
                                        const group_options& options = {}) {
        if (kind == backend::host) sizes = named_drivers().value_or(sizes);
        group_options of_part = options;
        if (treated_as.separate_machines) of_part.staged = false;
        if (kind == backend::host) {
            std::vector<device_group> parts;
            int all = 0;
            for (const int size : sizes) {
                parts.push_back(device_group::host(size, of_part));
                all += size;
            }
            return {device_group::host(all, options), parts};
        }
        const int present = cuda_device_count();
        if (present == 2) sizes.assign(2, 1); // one each
        std::vector<int> all;
        std::vector<device_group> parts;
        for (const int size : sizes) {
            std::vector<int> ordinals;
            for (int k = 0; k < size; ++k)
                ordinals.push_back(static_cast<int>(all.size() + std::size_t(k)) % present);
            all.insert(all.end(), ordinals.begin(), ordinals.end());
            parts.push_back(device_group::cuda(ordinals, of_part));
        }
        return {device_group::cuda(all, options), parts};
    }
};

/// Rethrows the first failure.
inline void expect_none(const std::vector<std::exception_ptr>& thrown) {
    for (const std::exception_ptr& one : thrown)
        if (one) std::rethrow_exception(one);
}

/// What work(comm) returns in a thread for each group. Throws the first failure.
template <class Work>
auto found_by_drivers(const std::vector<device_group>& groups, const Work& work) {
    std::vector<decltype(work(std::declval<const communicator&>()))> found(groups.size());
    expect_none(with_drivers(groups, [&](const communicator& comm) {
        found[static_cast<std::size_t>(comm.driver_of(comm.first_local()))] = work(comm);
    }));
    return found;
}

} // namespace krylith::testing

/// A test on host devices, one with [processes] on host devices whose drivers have memory of their
/// own, one with [machines] where all they have of each other is a link, and one with [cuda] on
/// GPUs; the body gets the `kind`.
#define KRYLITH_DRIVERS_TEST_WITH(body, name)                                                      \
    static void body(krylith::backend kind);                                                       \
    TEST_CASE(name) {                                                                              \
        body(krylith::backend::host);                                                              \
    }                                                                                              \
    TEST_CASE(name " [processes]") {                                                               \
        const krylith::testing::drivers_treated_as processes({.separate_memory = true});           \
        body(krylith::backend::host);                                                              \
    }                                                                                              \
    TEST_CASE(name " [machines]") {                                                                \
        const krylith::testing::drivers_treated_as machines({.separate_machines = true});          \
        body(krylith::backend::host);                                                              \
    }                                                                                              \
    TEST_CASE(name " [cuda]") {                                                                    \
        body(krylith::backend::cuda);                                                              \
    }                                                                                              \
    static void body([[maybe_unused]] krylith::backend kind)

#define KRYLITH_DRIVERS_TEST(name) KRYLITH_DRIVERS_TEST_WITH(DOCTEST_ANONYMOUS(krylith_body_), name)
