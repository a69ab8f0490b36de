// Matrix Market files of which each driver reads a part of the text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/distributed/local_files.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith::detail {

/// load_rows() and load_local_vector() of such a file. Collective.
template <class T>
[[nodiscard]] own_rows<T> market_rows(const communicator& comm, const std::string& path,
                                      const load_options& options, int block_size);
template <class T>
[[nodiscard]] std::vector<T> market_vector(const communicator& comm, const std::string& path,
                                           const row_partition& rows);

/// Throws what load_local_vector() says of another length.
void check_vector_length(const std::string& name, std::int64_t entries, const row_partition& rows);

} // namespace krylith::detail
