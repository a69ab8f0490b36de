// Distributed vectors from and to host memory, and checks of their copies.
#pragma once

#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include <krylith/vector/vector.hpp>

namespace krylith::testing {

/// Returns a layout of equal ranges of rows.
[[nodiscard]] inline layout_handle make_layout(const device_group& group, std::int64_t n,
                                               coherence kind) {
    return std::make_shared<layout>(layout{group, equal_rows(n, group.size()), kind});
}

template <class T>
[[nodiscard]] std::vector<T> values_of(const vector<T>& v) {
    std::vector<T> values(static_cast<std::size_t>(v.size()));
    v.download(values);
    return values;
}

template <class T>
[[nodiscard]] vector<T> make_range_vector(const layout_handle& layout,
                                          const std::vector<T>& values) {
    vector<T> v(layout);
    v.upload(values);
    return v;
}

template <class T>
void fill(vector<T>& v, T value) {
    v.upload(std::vector<T>(static_cast<std::size_t>(v.size()), value));
}

/// Compares bits, so that NaN equals itself and 0 differs from -0.
template <class T>
[[nodiscard]] bool same_bits(std::span<const T> a, std::span<const T> b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}
template <class T>
[[nodiscard]] bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return same_bits(std::span<const T>(a), std::span<const T>(b));
}

/// Whether each device's copy of a replicated vector has the bits of the owners' entries. It must
/// be called when no work is under way: after execution::flush().
template <class T>
[[nodiscard]] bool copies_agree(const vector<T>& v) {
    if (v.layout()->kind != coherence::replicated) return true;
    const std::vector<T> owned = values_of(v);
    for (int rank = 0; rank < v.layout()->comm.ranks(); ++rank) {
        std::vector<T> copy(owned.size());
        if (!copy.empty())
            v.layout()->comm[rank].download(copy.data(), v.data(rank), copy.size() * sizeof(T));
        if (!same_bits(copy, owned)) return false;
    }
    return true;
}

} // namespace krylith::testing
