// How results get to other devices: the table of transports.
//
// Another transport is its row (spmv/table/transport_method.hpp has the fields), and three
// lines here.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include <krylith/spmv/table/transport_method.hpp>

namespace krylith {

/// The rows (spmv/replicated/transport_rows.cpp).
namespace transport_rows {
extern const transport_method peer_store;
extern const transport_method copy_engine;
extern const transport_method nccl;
} // namespace transport_rows

/// What operator_options::transport may be.
namespace transports {

/// The first of the table that the devices can use, NCCL left out.
inline constexpr transport_kind automatic;
/// The kernel that computes a result stores it into every copy.
inline constexpr transport_kind peer_store(transport_rows::peer_store);
/// Copy engines, beside the kernels; no recorded loops.
inline constexpr transport_kind copy_engine(transport_rows::copy_engine);
/// Grouped ncclSend and ncclRecv, beside the kernels; no recorded loops.
inline constexpr transport_kind nccl(transport_rows::nccl);

inline constexpr std::array all = {peer_store, copy_engine, nccl};

} // namespace transports

/// Throws usage_error naming the nearest valid name.
[[nodiscard]] transport_kind parse_transport_kind(std::string_view name);
/// The names that parse_transport_kind() accepts: auto, then the rows in the order of the table.
[[nodiscard]] std::span<const std::string_view> transport_names();

} // namespace krylith
