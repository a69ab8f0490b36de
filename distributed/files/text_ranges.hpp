// Which part of a text each driver reads: whole lines, about as many bytes each.
#pragma once

#include <cstdint>

#include <krylith/comm/communicator.hpp>
#include <krylith/matrix/market/line_source.hpp>
#include <krylith/matrix/types/item_range.hpp>

namespace krylith::detail {

/// The bytes of a plain file that this driver reads: lines that begin behind the position of the
/// source. Lines that are longer than they may be go with those before. Collective.
[[nodiscard]] item_range own_text(const communicator& comm, const market::line_source& source);

} // namespace krylith::detail
