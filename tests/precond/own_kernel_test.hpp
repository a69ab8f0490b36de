// A kernel that is a preconditioner.
#pragma once

#include <cstdint>

#include <krylith/precond/own_preconditioner.hpp>

namespace krylith::testing {

/// Enqueues z = r / 4 + the sum of the ghosts below and above the owned entries.
void enqueue_quarter(const preconditioner_call<double>& call, std::int64_t below,
                     std::int64_t above);

} // namespace krylith::testing
