// The loads and stores of a recorded program, and the places of registers after it.
#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/vector/execution/program_recorder.hpp>

namespace krylith {

namespace {

bool loads(const scalar_program& p, std::uint8_t reg, std::uint8_t slot) {
    for (int i = 0; i < p.load_count; ++i)
        if (p.loads[i].number == reg) return p.loads[i].slot == slot;
    return false;
}

bool stores(const scalar_program& p, std::uint8_t reg, std::uint8_t slot) {
    for (int i = 0; i < p.store_count; ++i)
        if (p.stores[i].number == reg) return p.stores[i].slot == slot;
    return false;
}

} // namespace

TEST_CASE("recorder: a register that gets a value moves to its other place") {
    program_recorder r;
    const auto a = r.new_register();
    const auto b = r.new_register();
    const auto even = [](std::uint8_t reg) { return static_cast<std::uint8_t>(2 * reg); };
    const auto odd = [](std::uint8_t reg) { return static_cast<std::uint8_t>(2 * reg + 1); };
    CHECK(r.empty());
    CHECK(r.slot(a) == even(a));
    r.record(scalar_opcode::add, a, a, b);
    CHECK_FALSE(r.empty());
    auto p = r.finish();
    CHECK(r.empty());
    CHECK(p.instruction_count == 1);
    CHECK(p.load_count == 3); // and the loop's state, which guards the kernel
    CHECK(loads(p, control::state, even(control::state)));
    CHECK(loads(p, a, even(a)));
    CHECK(loads(p, b, even(b)));
    CHECK(p.store_count == 1);
    CHECK(stores(p, a, odd(a)));
    CHECK(r.slot(a) == odd(a));

    r.mark_assigned(b); // by a reduction: loaded too, in case that the kernel doesn't run
    r.need(b);
    p = r.finish();
    CHECK(p.instruction_count == 0);
    CHECK(loads(p, b, even(b)));
    CHECK(stores(p, b, odd(b)));
}

TEST_CASE("recorder: a closing kernel leaves registers in the places asked for") {
    program_recorder r;
    const auto a = r.new_register();
    const auto b = r.new_register();
    const register_places before = r.places();
    r.take(a, r.constant(2));
    (void)r.finish();
    CHECK(r.places() != before);
    r.assign(b, a);
    const auto p = r.finish(before);
    CHECK(r.places() == before);
    CHECK(loads(p, a, static_cast<std::uint8_t>(2 * a + 1)));
    CHECK(stores(p, a, static_cast<std::uint8_t>(2 * a))); // moves back, though it keeps its value
    CHECK(stores(p, b, static_cast<std::uint8_t>(2 * b)));
}

TEST_CASE("recorder: temporaries are never stored, and the last one may be taken") {
    program_recorder r;
    const auto a = r.new_register();
    const auto t = r.constant(3);
    CHECK(program_recorder::is_temporary(t));
    CHECK_FALSE(program_recorder::is_temporary(a));
    r.take(a, t); // no copy: the constant itself goes to a
    const auto u = r.temporary();
    CHECK(u == t);
    r.record(scalar_opcode::square_root, u, a, 0);
    const auto p = r.finish();
    CHECK(p.instruction_count == 2);
    CHECK(p.instructions[0].to == a);
    CHECK(p.store_count == 1);
    CHECK(stores(p, a, static_cast<std::uint8_t>(2 * a + 1)));
}

TEST_CASE("recorder: too much of anything is refused") {
    program_recorder named;
    CHECK_THROWS_WITH_AS(
        [&] {
            for (int i = 0; i < max_registers; ++i) (void)named.new_register();
        }(),
        doctest::Contains("scalars"), usage_error);
    program_recorder instructions;
    const auto a = instructions.new_register();
    for (int i = 0; i < max_instructions; ++i) instructions.assign(a, a);
    CHECK_FALSE(instructions.has_room());
    CHECK_THROWS_WITH_AS(instructions.assign(a, a), doctest::Contains("flush()"), usage_error);
    (void)instructions.finish();
    CHECK(instructions.has_room());
    program_recorder constants;
    for (int i = 0; i < max_immediates; ++i) constants.take(a, constants.constant(i));
    CHECK_FALSE(constants.has_room());
    CHECK_THROWS_WITH_AS((void)constants.constant(1), doctest::Contains("flush()"), usage_error);
}

} // namespace krylith
