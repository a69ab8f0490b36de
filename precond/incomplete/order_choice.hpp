// Which order of elimination takes less time on a GPU.
#pragma once

#include <cstdint>

namespace krylith::incomplete {

/// Whether conjugate gradients in the order of colours, with its wide steps and its iterations
/// more, are expected to take less time than in natural order, whose solves take `levels` steps.
/// `rows` and `nonzeros` are those of a device.
[[nodiscard]] bool colours_pay(std::int64_t levels, std::int64_t rows, std::int64_t nonzeros,
                               std::int64_t value_bytes);

} // namespace krylith::incomplete
