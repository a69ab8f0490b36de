// The scalar arithmetic that waits for the next kernel: the program that the host has recorded, and
// the places of registers before and after. It knows no device.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/vector/execution/scalar_program.hpp>

namespace krylith {

/// The place, of its two (scalar_program.hpp), that each register is in.
using register_places = std::vector<std::uint8_t>; // [max_registers], 0 or 1

/// Records arithmetic on registers, which are named (for as long as the execution lives) or
/// temporary (until the next kernel).
class program_recorder {
public:
    program_recorder();

    /// A new named register, 0 at first. Throws usage_error when there are too many.
    [[nodiscard]] std::uint8_t new_register();
    /// Keeps the registers made so far through forget_registers(), which frees all others for
    /// new_register() to give again, with the values that they had.
    void keep_registers() { kept_registers_ = next_register_; }
    void forget_registers() { next_register_ = kept_registers_; }
    /// Throws usage_error, as record() does, when the arithmetic gets too much for one kernel.
    [[nodiscard]] std::uint8_t temporary();
    /// A temporary with a constant value.
    [[nodiscard]] std::uint8_t constant(double value);
    void record(scalar_opcode code, std::uint8_t to, std::uint8_t a, std::uint8_t b);
    /// Records `to = from`.
    void assign(std::uint8_t to, std::uint8_t from);
    /// Records `to = from` for a temporary that nothing else uses: the instruction that made it, if
    /// it was the last, makes `to` instead.
    void take(std::uint8_t to, std::uint8_t from);

    /// Says that the next kernel reads the register.
    void need(std::uint8_t reg);
    /// Says that the kernel under way gives the register a value, by a reduction.
    void mark_assigned(std::uint8_t reg);
    [[nodiscard]] static bool is_temporary(std::uint8_t reg);
    [[nodiscard]] bool empty() const { return program_.instruction_count == 0; }
    /// Whether a constant can still be assigned.
    [[nodiscard]] bool has_room() const;
    /// The largest number of bytes that the program takes in a kernel context.
    [[nodiscard]] int bytes() const;

    /// Returns the pending program with its loads and stores (all but its sums) for a kernel of
    /// many blocks: each register that gets a value moves to its other place.
    [[nodiscard]] scalar_program finish();
    /// Returns the same for a kernel of one thread, which may store to the places that it loads
    /// from: it leaves all named registers in the given places.
    [[nodiscard]] scalar_program finish(const register_places& closing);

    [[nodiscard]] const register_places& places() const { return place_; }
    /// The register's place in kernel_context::slots.
    [[nodiscard]] std::uint8_t slot(std::uint8_t reg) const {
        return static_cast<std::uint8_t>(2 * reg + place_[reg]);
    }

private:
    [[nodiscard]] scalar_program finish(const register_places* closing);

    scalar_program program_{};
    std::vector<bool> needed_;   // must be loaded
    std::vector<bool> assigned_; // gets a value
    register_places place_;
    int next_register_ = control::count;
    int kept_registers_ = control::count;
    int next_temporary_ = 0;
};

} // namespace krylith
