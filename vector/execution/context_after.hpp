// The kernel context for a second kernel of the same operation.
#pragma once

#include <krylith/vector/execution/kernel_context.hpp>

namespace krylith {

/// Returns what is left of `context` once a kernel has run it: the guard, at the place where that
/// kernel put the state of the loop. Operations need it that use the kernel context both before and
/// after external work.
[[nodiscard]] inline kernel_context context_after(const kernel_context& context) {
    kernel_context after = context;
    after.program = {};
    after.batch = 0;
    after.batch_array = -1;
    after.signal_count = 0;
    std::uint8_t slot = context.program.loads[0].slot;
    for (int i = 0; i < context.program.load_count; ++i)
        if (context.program.loads[i].number == control::state) slot = context.program.loads[i].slot;
    for (int i = 0; i < context.program.store_count; ++i)
        if (context.program.stores[i].number == control::state)
            slot = context.program.stores[i].slot;
    after.program.loads[0] = {control::state, slot};
    after.program.load_count = 1;
    return after;
}

} // namespace krylith
