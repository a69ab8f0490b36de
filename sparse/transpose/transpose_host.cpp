#include <algorithm>
#include <span>

#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_team.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/matrix/compressed/transpose_entries.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/transpose/transpose_kernels.hpp>

namespace krylith::host {

namespace {

/// Transposes by load(k), which an entry carries along, and store(place, load).
template <class Load, class LoadEntry, class Store>
void transpose_by(const csr_pattern& a, int threads, std::int64_t* offsets, std::int32_t* rows,
                  const LoadEntry& load, const Store& store) {
    const compressed_pattern pattern{
        {a.offsets, as_size(a.rows) + 1}, {a.indices, as_size(a.nonzeros)}, a.columns};
    transpose_entries<Load>(pattern, {offsets, as_size(a.columns) + 1},
                            plan_transposition(pattern, threads), load,
                            [&](std::int64_t place, std::int64_t row, const Load& one) {
                                rows[place] = static_cast<std::int32_t>(row);
                                store(place, one);
                            });
}

template <class Position>
void find_places(const csr_pattern& a, int threads, std::int64_t* offsets, std::int32_t* rows,
                 Position* places) {
    transpose_by<Position>(
        a, threads, offsets, rows, [](std::int64_t k) { return static_cast<Position>(k); },
        [places](std::int64_t place, Position k) { places[place] = k; });
}

template <class Position, class T>
void gather(const Position* places, std::int64_t count, const T* from, T* to, int threads) {
    in_team(threads, [&](std::int64_t thread, std::int64_t team) {
        const std::int64_t end = count * (thread + 1) / team;
        for (std::int64_t p = count * thread / team; p < end; ++p) to[p] = from[places[p]];
    });
}

} // namespace

template <class T>
void transpose_pattern(const std::shared_ptr<device>& on, const csr_pattern& a,
                       const transposed_arrays<T>& to) {
    auto& host = static_cast<host_device&>(*on);
    host.submit([a, to, threads = host.threads()] {
        if (to.places.narrow != nullptr) {
            find_places(a, threads, to.offsets, to.indices, to.places.narrow);
        } else if (to.places.wide != nullptr) {
            find_places(a, threads, to.offsets, to.indices, to.places.wide);
        } else {
            transpose_by<T>(
                a, threads, to.offsets, to.indices, [&](std::int64_t k) { return to.values[k]; },
                [&](std::int64_t place, T value) { to.transposed_values[place] = value; });
        }
    });
}

template <class T>
void permute(device& on, const permutation_view& places, std::int64_t count, const T* from, T* to) {
    auto& host = static_cast<host_device&>(on);
    host.submit([=, threads = worthwhile_team(host.threads(), count)] {
        if (places.narrow != nullptr)
            gather(places.narrow, count, from, to, threads);
        else
            gather(places.wide, count, from, to, threads);
    });
}

#define KRYLITH_INSTANTIATE(T) template struct instances<transpose_pattern<T>, permute<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
