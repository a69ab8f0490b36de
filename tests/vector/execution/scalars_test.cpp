// Arithmetic on device scalars: recorded by the host, evaluated by the next kernel.
#include <cmath>
#include <limits>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/vector/execution.hpp>
#include <krylith/vector/scalar.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

using testing::iterate;
using testing::modes_of;
using testing::random_numbers;
using testing::set_controls;

KRYLITH_GROUP_TEST("scalars: every operation") {
    execution run(group, {});
    scalar a(run), b(run), c(run), zero(run);
    a = 3.0;
    b = -7.5;
    zero = 0.0;
    const auto is = [&](double expected) {
        const double got = run.get(c.number());
        CHECK((got == expected || (std::isnan(got) && std::isnan(expected))));
    };
    CHECK(run.get(a.number()) == 3.0);
    c = a;
    is(3.0);
    c = a + b;
    is(-4.5);
    c = a - b;
    is(10.5);
    c = a * b;
    is(-22.5);
    c = a / b;
    is(3.0 / -7.5);
    c = -b;
    is(7.5);
    c = sqrt(a);
    is(std::sqrt(3.0));
    c = divide_or_zero(a, b);
    is(3.0 / -7.5);
    c = divide_or_zero(a, zero);
    is(0.0);
    c = a / zero;
    is(std::numeric_limits<double>::infinity());
    c = sqrt(b);
    is(std::numeric_limits<double>::quiet_NaN());
    c = sqrt(a * a + b * b) / (a - -b);
    is(std::sqrt(9 + 56.25) / (3 - 7.5));
    c = c + c; // the old value on the right
    is(2 * (std::sqrt(9 + 56.25) / (3 - 7.5)));
    CHECK(run.get(a.number()) == 3.0);
    CHECK(run.get(b.number()) == -7.5);
}

KRYLITH_GROUP_TEST("scalars: the order of assignments within one kernel") {
    execution run(group, {});
    scalar a(run), b(run), t(run);
    a = 1.0;
    b = 2.0;
    t = a; // swap
    a = b;
    b = t;
    a = a * a;
    run.flush();
    CHECK(run.get(a.number()) == 4.0);
    CHECK(run.get(b.number()) == 1.0);
    t = 5.0;
    t = a - t;
    t = t * t + t;
    CHECK(run.get(t.number()) == 0.0);
}

// "The value of an expression, good until the next kernel": so it may be used more than once.
KRYLITH_GROUP_TEST("scalars: the value of an expression may be used twice") {
    execution run(group, {});
    scalar a(run), b(run), c(run), d(run);
    a = 3.0;
    b = 4.0;
    run.flush();
    const scalar_value product = a * b;
    c = product;
    d = product + a;
    CHECK(run.get(c.number()) == 12.0);
    CHECK(run.get(d.number()) == 15.0);
}

KRYLITH_GROUP_TEST("scalars: long programs run in pieces; what is too long is refused") {
    execution run(group, {});
    scalar sum(run), step(run);
    sum = 0.0;
    step = 1.0;
    run.flush();
    for (int i = 0; i < 200; ++i) {
        sum = sum + step;
        if (i % 20 == 19) run.flush();
    }
    CHECK(run.get(sum.number()) == 200.0);

    int done = 0;
    const auto too_much = [&] {
        for (;; ++done) sum = sum + step;
    };
    CHECK_THROWS_AS(too_much(), usage_error);
    CHECK(done >= 16);
    CHECK(run.get(sum.number()) == 200.0 + done); // what was accepted still counts
}

KRYLITH_GROUP_TEST("scalars: too many registers are refused, and set() never is") {
    execution run(group, {});
    std::vector<std::uint8_t> registers;
    const auto all = [&] {
        for (;;) registers.push_back(run.new_register());
    };
    CHECK_THROWS_AS(all(), usage_error);
    CHECK(registers.size() >= 32);
    for (std::size_t i = 0; i < registers.size(); ++i)
        run.set(registers[i], static_cast<double>(i) + 0.5);
    bool all_there = true;
    for (std::size_t i = 0; i < registers.size(); ++i)
        all_there = all_there && run.get(registers[i]) == static_cast<double>(i) + 0.5;
    CHECK(all_there);
}

// A scalar has two places, and each assignment takes the other one. A recorded body begins every
// trip with the same places, so bodies with odd and even numbers of assignments must both work.
// Nothing changes after the stop, not even scalars that the kernel computes which finds that the
// loop is over.
KRYLITH_GROUP_TEST("scalars: odd and even numbers of assignments in a loop") {
    for (const auto mode : modes_of(group))
        for (const int unroll : {1, 2, 3, 8})
            for (const int kernels : {1, 2, 3}) {
                CAPTURE(unroll);
                CAPTURE(kernels);
                execution run(group, {.mode = mode, .unroll = unroll});
                scalar a(run), b(run), fixed(run);
                a = 1.0;
                b = 0.0;
                fixed = 0.5;
                const auto end = iterate(run, 11, [&] {
                    for (int k = 0; k < kernels; ++k) {
                        a = a + fixed;
                        if (k == 1) b = b + a; // another number of assignments than a
                        run.flush();
                    }
                });
                double expected_a = 1;
                double expected_b = 0;
                for (int i = 0; i < 11; ++i)
                    for (int k = 0; k < kernels; ++k) {
                        expected_a += 0.5;
                        if (k == 1) expected_b += expected_a;
                    }
                CHECK(end.state == loop_state::limit);
                CHECK(end.iterations == 11);
                CHECK(run.get(a.number()) == expected_a);
                CHECK(run.get(b.number()) == expected_b);
                CHECK(run.get(fixed.number()) == 0.5);
                // Arithmetic after the loop, although the state says that it has stopped.
                run.unguarded([&] {
                    a = a * fixed;
                    run.flush();
                });
                CHECK(run.get(a.number()) == expected_a * 0.5);
            }
}

// Compares a random program with the same in plain doubles; numbers are chosen so that nothing
// overflows.
KRYLITH_GROUP_TEST("scalars: random programs") {
    execution run(group, {});
    constexpr int count = 6;
    std::vector<std::uint8_t> registers;
    std::vector<double> expected;
    random_numbers random(5);
    for (int i = 0; i < count; ++i) {
        registers.push_back(run.new_register());
        expected.push_back(random.real());
        run.set(registers.back(), expected.back());
    }
    const auto value = [&](int i) {
        return scalar_value{&run, registers[static_cast<std::size_t>(i)]};
    };
    int wrong = 0;
    for (int step = 0; step < 400; ++step) {
        const int to = random.below(count);
        const int i = random.below(count);
        const int j = random.below(count);
        const double a = expected[static_cast<std::size_t>(i)];
        const double b = expected[static_cast<std::size_t>(j)];
        double& result = expected[static_cast<std::size_t>(to)];
        const auto target = registers[static_cast<std::size_t>(to)];
        switch (random.below(5)) {
        case 0:
            run.assign(target, (value(i) - value(j)).number);
            result = a - b;
            break;
        case 1:
            run.assign(target, (-value(i)).number);
            result = -a;
            break;
        case 2:
            run.assign(target, value(i).number);
            result = a;
            break;
        case 3: {
            const scalar_value half{&run, run.constant(0.5)};
            run.assign(target, (half * (value(i) + value(j))).number);
            result = 0.5 * (a + b);
            break;
        }
        default: run.set(target, 0.25 * step); result = 0.25 * step;
        }
        if (step % 3 == 2) run.flush();
        if (step % 40 == 39)
            for (int k = 0; k < count; ++k)
                wrong += run.get(registers[static_cast<std::size_t>(k)]) !=
                         expected[static_cast<std::size_t>(k)];
    }
    CHECK(wrong == 0);
}

TEST_CASE("executions: options out of range are refused") {
    const auto group = device_group::host(2);
    CHECK_THROWS_AS(execution(group, {.unroll = 0}), usage_error);
    CHECK_THROWS_AS(execution(group, {.timeout_seconds = 0}), usage_error);
    CHECK_THROWS_AS(execution(group, {.timeout_seconds = std::nan("")}), usage_error);
    const auto staged = device_group::host(2, {.staged = true});
    CHECK_THROWS_AS(execution(staged, {.mode = execution_mode::recorded}), usage_error);
    CHECK(execution(staged, {}).mode() == execution_mode::eager);
    CHECK(execution(group, {}).mode() == execution_mode::recorded);
}

} // namespace krylith
