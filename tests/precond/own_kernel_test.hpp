// A kernel that is a preconditioner.
#pragma once

#include <cstdint>

#include <krylith/precond/own_preconditioner.hpp>

namespace krylith::testing {

/// Enqueues z = r / 4 + the sum of the ghosts.
void enqueue_quarter(const preconditioner_call<double>& call, std::int64_t ghosts);

} // namespace krylith::testing
