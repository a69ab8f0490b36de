// The kernel context for a second kernel of the same operation.
#pragma once

#include <krylith/vector/scalar/kernel_context.hpp>

namespace krylith {

/// Returns what is left of `f` once a kernel has run it: the guard, at the place where that kernel
/// put the state of the loop. Operations need it that use the kernel context both before and after
/// external work.
[[nodiscard]] inline kernel_context context_after(const kernel_context& f) {
    kernel_context after = f;
    after.program = {};
    after.batch = 0;
    after.batch_array = -1;
    after.signal_count = 0;
    std::uint8_t slot = f.program.loads[0].slot;
    for (int i = 0; i < f.program.load_count; ++i)
        if (f.program.loads[i].number == control::state) slot = f.program.loads[i].slot;
    for (int i = 0; i < f.program.store_count; ++i)
        if (f.program.stores[i].number == control::state) slot = f.program.stores[i].slot;
    after.program.loads[0] = {control::state, slot};
    after.program.load_count = 1;
    return after;
}

} // namespace krylith
