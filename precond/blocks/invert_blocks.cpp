#include <krylith/precond/blocks/invert_blocks.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <krylith/device/host/host_device.hpp>
#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/device/loops/visit_rows.hpp>

namespace krylith::detail {

namespace {

template <class T>
using dense_block = T[largest_block][largest_block];

/// Returns whether all pivots differ from 0.
template <class T>
bool invert(dense_block<T>& m, int size) {
    int exchanged[largest_block];
    for (int k = 0; k < size; ++k) {
        int pivot = k;
        for (int i = k + 1; i < size; ++i)
            if (std::fabs(m[i][k]) > std::fabs(m[pivot][k])) pivot = i;
        if (!(std::fabs(m[pivot][k]) > T(0))) return false;
        exchanged[k] = pivot;
        if (pivot != k) std::swap_ranges(m[k], m[k] + size, m[pivot]);
        const T inverse = T(1) / m[k][k];
        m[k][k] = T(1);
        for (int j = 0; j < size; ++j) m[k][j] *= inverse;
        for (int i = 0; i < size; ++i) {
            if (i == k) continue;
            const T factor = m[i][k];
            m[i][k] = T(0);
            for (int j = 0; j < size; ++j) m[i][j] -= factor * m[k][j];
        }
    }
    for (int k = size - 1; k >= 0; --k)
        if (exchanged[k] != k)
            for (int i = 0; i < size; ++i) std::swap(m[i][k], m[i][exchanged[k]]);
    return true;
}

template <class T>
bool is_symmetric(const dense_block<T>& m, int size) {
    for (int i = 0; i < size; ++i)
        for (int j = 0; j < i; ++j)
            if (m[i][j] != m[j][i]) return false;
    return true;
}

/// Inverts one block, and returns its largest magnitude; not a number where it has no inverse.
template <class T>
T invert_one(const block_view<T>& blocks, std::int64_t first) {
    dense_block<T> m;
    const int size = blocks.places[first].size;
    bool good = true;
    for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j) {
            m[i][j] = blocks.at(first + i, j);
            good = good && std::isfinite(m[i][j]);
        }
    const bool symmetric = is_symmetric(m, size);
    good = good && invert(m, size);
    T largest = 0;
    for (int i = 0; i < size && good; ++i)
        for (int j = 0; j < size; ++j) {
            const T x = symmetric ? (m[i][j] + m[j][i]) / 2 : m[i][j];
            good = good && std::isfinite(x);
            largest = std::max(largest, std::fabs(x));
            blocks.at(first + i, j) = x;
        }
    return good ? largest : std::numeric_limits<T>::quiet_NaN();
}

} // namespace

} // namespace krylith::detail

namespace krylith::host {

template <class T>
void invert_blocks(device& device, const detail::block_list& list,
                   const detail::block_view<T>& blocks, inversion_report* report) {
    in_parts(device, list.count * list.largest, [=](int part, int parts) {
        T largest = 0;
        const std::int64_t end = list.count * (part + 1) / parts;
        for (std::int64_t i = list.count * part / parts; i < end; ++i) {
            const T of_block = detail::invert_one(blocks, list.first[i]);
            if (std::isnan(of_block))
                raise_shared(&report->bad, ~static_cast<std::uint64_t>(i));
            else
                largest = std::max(largest, of_block);
        }
        if (largest > T(0))
            raise_shared(
                &report->exponent,
                static_cast<std::uint64_t>(std::ilogb(largest) + inversion_report::exponent_bias));
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void invert_blocks(device&, const detail::block_list&, const detail::block_view<T>&,  \
                                inversion_report*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
