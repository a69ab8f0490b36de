// Columns of a caller's, one after the other, to and from vectors whose columns lie row by row.
#pragma once

#include <span>

#include <krylith/vector/vector.hpp>

namespace krylith {

/// Uploads columns of to.size() / k entries each, at most k of them; columns that are not there
/// become 0. Host threads transpose the pieces of the transfer on their way.
template <class T>
void upload_columns(vector<T>& to, int k, std::span<const T> columns);

/// Downloads as many columns as there is room for.
template <class T>
void download_columns(const vector<T>& from, int k, std::span<T> columns);

} // namespace krylith
