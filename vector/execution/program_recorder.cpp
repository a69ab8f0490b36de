#include <krylith/vector/execution/program_recorder.hpp>

#include <string>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

constexpr int first_temporary = 48;
static_assert(first_temporary > control::count && first_temporary < max_registers);

} // namespace

program_recorder::program_recorder()
    : needed_(max_registers), assigned_(max_registers), place_(max_registers) {}

std::uint8_t program_recorder::new_register() {
    if (next_register_ == first_temporary)
        throw usage_error("an execution has at most " +
                          std::to_string(first_temporary - control::count) + " scalars");
    return static_cast<std::uint8_t>(next_register_++);
}

std::uint8_t program_recorder::temporary() {
    if (first_temporary + next_temporary_ == max_registers)
        throw usage_error("too much scalar arithmetic between two kernels: call flush()");
    return static_cast<std::uint8_t>(first_temporary + next_temporary_++);
}

std::uint8_t program_recorder::constant(double value) {
    if (program_.immediate_count == max_immediates)
        throw usage_error("too many constants between two kernels: call flush()");
    const std::uint8_t index = program_.immediate_count++;
    program_.immediates[index] = value;
    const std::uint8_t to = temporary();
    record(scalar_opcode::set, to, index, 0);
    return to;
}

void program_recorder::need(std::uint8_t reg) {
    if (!assigned_[reg]) needed_[reg] = true;
}

void program_recorder::mark_assigned(std::uint8_t reg) {
    assigned_[reg] = true;
}

void program_recorder::record(scalar_opcode code, std::uint8_t to, std::uint8_t a, std::uint8_t b) {
    if (program_.instruction_count == max_instructions)
        throw usage_error("too much scalar arithmetic between two kernels: call flush()");
    program_.instructions[program_.instruction_count++] = {code, to, a, b};
    switch (code) {
    case scalar_opcode::set: mark_assigned(to); break;
    case scalar_opcode::copy:
    case scalar_opcode::square_root:
    case scalar_opcode::negate:
        need(a);
        mark_assigned(to);
        break;
    case scalar_opcode::add:
    case scalar_opcode::subtract:
    case scalar_opcode::multiply:
    case scalar_opcode::divide:
    case scalar_opcode::divide_or_zero:
    case scalar_opcode::maximum:
        need(a);
        need(b);
        mark_assigned(to);
        break;
    case scalar_opcode::test:
    case scalar_opcode::estimate:
    case scalar_opcode::finish:
        need(a);
        if (b != control::state) { // recorded beside a
            need(b);
            need(to);
        }
        for (const auto reg :
             {control::state, control::iteration, control::target, control::limit, control::ceiling,
              control::best, control::best_at, control::patience})
            need(reg);
        for (const auto reg : {control::state, control::iteration, control::residual, control::best,
                               control::best_at})
            mark_assigned(reg);
        break;
    case scalar_opcode::nonzero: need(to); [[fallthrough]];
    case scalar_opcode::start:
        need(a);
        need(control::target);
        need(control::state);
        mark_assigned(control::residual);
        mark_assigned(control::state);
        break;
    case scalar_opcode::ordinary:
    case scalar_opcode::positive: need(a); [[fallthrough]];
    case scalar_opcode::pause:
        need(control::iteration);
        need(control::pause_at);
        [[fallthrough]];
    case scalar_opcode::stop:
        need(control::state);
        mark_assigned(control::state);
        break;
    }
}

void program_recorder::assign(std::uint8_t to, std::uint8_t from) {
    record(scalar_opcode::copy, to, from, 0);
}

void program_recorder::take(std::uint8_t to, std::uint8_t from) {
    if (from >= first_temporary && program_.instruction_count > 0) {
        auto& last = program_.instructions[program_.instruction_count - 1];
        const bool makes_value = last.code <= scalar_opcode::negate;
        if (makes_value && last.to == from && from == first_temporary + next_temporary_ - 1) {
            last.to = to;
            assigned_[from] = false;
            --next_temporary_;
            mark_assigned(to);
            return;
        }
    }
    assign(to, from);
}

bool program_recorder::is_temporary(std::uint8_t reg) {
    return reg >= first_temporary;
}

bool program_recorder::has_room() const {
    return program_.immediate_count < max_immediates &&
           program_.instruction_count + 2 < max_instructions;
}

int program_recorder::bytes() const {
    int places = 0;
    for (std::size_t reg = 0; reg < first_temporary; ++reg)
        places += (needed_[reg] || assigned_[reg] || reg == control::state ? 2 : 0) +
                  (assigned_[reg] ? 2 : 0);
    // The size includes the padding that alignment may need.
    return max_sums + places + 4 + 4 * program_.instruction_count + 8 +
           8 * program_.immediate_count;
}

scalar_program program_recorder::finish() {
    return finish(nullptr);
}

scalar_program program_recorder::finish(const register_places& closing) {
    return finish(&closing);
}

scalar_program program_recorder::finish(const register_places* closing) {
    needed_[control::state] = true; // the guard reads it
    for (int i = 0; i < first_temporary; ++i) {
        const auto reg = static_cast<std::uint8_t>(i);
        const bool moves = closing != nullptr && place_[reg] != (*closing)[reg];
        const bool stores = assigned_[reg] || moves;
        if (needed_[reg] || stores) program_.loads[program_.load_count++] = {reg, slot(reg)};
        if (!stores) continue;
        place_[reg] =
            closing != nullptr ? (*closing)[reg] : static_cast<std::uint8_t>(place_[reg] ^ 1);
        program_.stores[program_.store_count++] = {reg, slot(reg)};
    }
    const scalar_program finished = program_;
    program_ = {};
    needed_.assign(max_registers, false);
    assigned_.assign(max_registers, false);
    next_temporary_ = 0;
    return finished;
}

} // namespace krylith
