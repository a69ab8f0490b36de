#include <krylith/spmspv/kernels/vector_conversion.hpp>

#include <algorithm>
#include <atomic>
#include <bit>

#include <krylith/device/host/host_device.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/spmspv/kernels/host_ranges.hpp>

namespace krylith::host {

namespace {

/// Enqueues body(begin, end, shared) on equal parts of the pairs; shared: other threads run, too.
template <class T, class Body>
void on_pairs(device& device, const spmspv::vector_arrays<T>& v, const Body& body) {
    auto& host = static_cast<host_device&>(device);
    host.submit([v, body, threads = host.threads()] {
        const int team = team_for(threads, *v.count);
        for_ranges(team, *v.count,
                   [&](std::int64_t begin, std::int64_t end) { body(begin, end, team > 1); });
    });
}

template <class Body>
void on_range(device& device, std::int64_t n, std::int64_t nonzeros_of_each, const Body& body) {
    auto& host = static_cast<host_device&>(device);
    host.submit([=, threads = host.threads()] {
        for_ranges(team_for(threads, n * nonzeros_of_each), n, body);
    });
}

} // namespace

template <class T>
void scatter_values(device& device, const spmspv::vector_arrays<T>& v) {
    on_pairs(device, v, [v](std::int64_t begin, std::int64_t end, bool) {
        for (std::int64_t k = begin; k < end; ++k) v.dense[v.indices[k]] = v.values[k];
    });
}

template <class T>
void clean_values(device& device, const spmspv::vector_arrays<T>& v) {
    on_pairs(device, v, [v](std::int64_t begin, std::int64_t end, bool) {
        for (std::int64_t k = begin; k < end; ++k) v.dense[v.indices[k]] = v.absent;
    });
}

template <class T>
void scatter_bits(device& device, const spmspv::vector_arrays<T>& v) {
    on_pairs(device, v, [v](std::int64_t begin, std::int64_t end, bool shared) {
        for (std::int64_t k = begin; k < end; ++k) {
            const std::int32_t i = v.indices[k];
            const std::uint32_t bit = std::uint32_t{1} << (i % 32);
            if (shared)
                std::atomic_ref(v.bits[i / 32]).fetch_or(bit, std::memory_order_relaxed);
            else
                v.bits[i / 32] |= bit;
        }
    });
}

template <class T>
void clean_bits(device& device, const spmspv::vector_arrays<T>& v) {
    on_pairs(device, v, [v](std::int64_t begin, std::int64_t end, bool shared) {
        for (std::int64_t k = begin; k < end; ++k) {
            std::uint32_t& word = v.bits[v.indices[k] / 32]; // no other entry is in it either
            if (shared)
                std::atomic_ref(word).store(0, std::memory_order_relaxed);
            else
                word = 0;
        }
    });
}

template <class T>
void clean_entries(device& device, const spmspv::vector_arrays<T>& v) {
    clean_values(device, v);
    clean_bits(device, v);
}

template <class T>
void fill_absent(device& device, const spmspv::vector_arrays<T>& v) {
    on_range(device, v.size, 1, [v](std::int64_t begin, std::int64_t end) {
        std::fill(v.dense + begin, v.dense + end, v.absent);
    });
}

template <class T>
void gather_values(device& device, const spmspv::vector_arrays<T>& v) {
    on_pairs(device, v, [v](std::int64_t begin, std::int64_t end, bool) {
        for (std::int64_t k = begin; k < end; ++k) v.values[k] = v.dense[v.indices[k]];
    });
}

template <class T>
void bits_of_dense(device& device, const spmspv::vector_arrays<T>& v) {
    on_range(device, v.words(), 32, [v](std::int64_t begin, std::int64_t end) {
        for (std::int64_t word = begin; word < end; ++word) {
            const std::int64_t first = word * 32;
            const auto length = static_cast<int>(std::min<std::int64_t>(32, v.size - first));
            std::uint32_t bits = 0;
            for (int b = 0; b < length; ++b)
                bits |= static_cast<std::uint32_t>(v.dense[first + b] != v.absent) << b;
            v.bits[word] = bits;
        }
    });
}

std::size_t list_scratch_bytes(std::int64_t) {
    return most_threads * sizeof(std::int32_t);
}

template <class T>
void list_bits(device& device, const spmspv::vector_arrays<T>& v, void* scratch) {
    auto& host = static_cast<host_device&>(device);
    host.submit([v, threads = host.threads(), counts = static_cast<std::int32_t*>(scratch)] {
        const std::int64_t words = v.words();
        const int parts = team_for(threads, words * 8);
        const auto count = [&](int part) {
            const std::int64_t end = part_begin(words, part + 1, parts);
            std::int32_t found = 0;
            for (std::int64_t w = part_begin(words, part, parts); w < end; ++w)
                found += std::popcount(v.bits[w]);
            return found;
        };
        count_and_place(parts, counts, count, [&](int part, std::int32_t next) {
            const std::int64_t end = part_begin(words, part + 1, parts);
            for (std::int64_t w = part_begin(words, part, parts); w < end; ++w)
                for (std::uint32_t bits = v.bits[w]; bits != 0; bits &= bits - 1)
                    v.indices[next++] = static_cast<std::int32_t>(w * 32 + std::countr_zero(bits));
            if (part + 1 == parts) *v.count = next;
        });
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct instances<scatter_values<T>, scatter_bits<T>, clean_values<T>, clean_bits<T>,  \
                              clean_entries<T>, fill_absent<T>, gather_values<T>,                  \
                              bits_of_dense<T>, list_bits<T>>;
KRYLITH_INSTANTIATE(std::int32_t)
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
