#include <krylith/spmv/facts/diagonal_survey.hpp>

#include <algorithm>

#include <krylith/config.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_team.hpp>
#include <krylith/spmv/facts/diagonal_tally.hpp>

namespace krylith {

namespace {

/// Waking a team of threads takes longer than fewer entries than this.
constexpr std::int64_t worth_a_team = 32768;

/// Calls body(begin, end) for the parts of 0..count-1, one a thread.
template <class Body>
void in_parts(std::int64_t count, int threads, const Body& body) {
    in_team(count > worth_a_team ? threads : 1, [&](int member, int members) {
        body(count * member / members, count * (member + 1) / members);
    });
}

void join(diagonal_counts& all, const diagonal_counts& part) {
    all.positive += part.positive;
    all.negative += part.negative;
    all.not_finite += part.not_finite;
    raise_to(all.largest_positive, part.largest_positive);
    raise_to(all.largest_negative, part.largest_negative);
    raise_to(all.smallest_positive, part.smallest_positive);
    raise_to(all.smallest_negative, part.smallest_negative);
}

template <class T>
void survey_on_host(const held_diagonal<T>& diagonal, diagonal_counts* counts, int threads) {
    in_parts(diagonal.count, threads, [&](std::int64_t begin, std::int64_t end) {
        diagonal_counts mine{};
        for (std::int64_t i = begin; i < end; ++i) {
            T& d = diagonal.entries[i];
            if (i >= diagonal.first && i < diagonal.last) tally(mine, d);
            d = probe_scale(d);
        }
#pragma omp critical(krylith_diagonal_survey)
        join(*counts, mine);
    });
}

} // namespace

template <class T>
void survey_diagonal(device& device, const held_diagonal<T>& diagonal, diagonal_counts* counts) {
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda) return cuda::survey_diagonal(device, diagonal, counts);
#endif
    auto& host = static_cast<host_device&>(device);
    host.submit([=, threads = host.threads()] { survey_on_host(diagonal, counts, threads); });
}

template <class T>
void fill_probe(device& device, T* x, const T* scale, std::int64_t first_row, std::int64_t count,
                std::uint64_t seed) {
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda)
        return cuda::fill_probe(device, x, scale, first_row, count, seed);
#endif
    auto& host = static_cast<host_device&>(device);
    host.submit([=, threads = host.threads()] {
        in_parts(count, threads, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const auto value = static_cast<T>(probe_value(seed, first_row + i));
                x[i] = scale == nullptr ? value : scale[i] * value;
            }
        });
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void survey_diagonal(device&, const held_diagonal<T>&, diagonal_counts*);             \
    template void fill_probe(device&, T*, const T*, std::int64_t, std::int64_t, std::uint64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
