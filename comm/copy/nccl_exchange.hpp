// The exchange by NCCL, as seen by a host compiler. Defined where KRYLITH_HAVE_NCCL is 1.
#pragma once

#include <memory>

#include <krylith/comm/communicator.hpp>
#include <krylith/comm/copy/block_exchange.hpp>

namespace krylith::cuda {

/// Throws usage_error where NCCL can't be loaded.
void require_nccl();
/// Makes an exchange by NCCL between distinct GPUs.
[[nodiscard]] std::unique_ptr<block_exchange> make_nccl_exchange(const communicator& comm);

} // namespace krylith::cuda
