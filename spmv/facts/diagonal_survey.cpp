#include <krylith/device/loops/host_parts.hpp>
#include <krylith/spmv/facts/diagonal_survey.hpp>
#include <krylith/spmv/facts/diagonal_tally.hpp>

namespace krylith::host {

namespace {

void join(diagonal_counts& all, const diagonal_counts& part) {
    all.positive += part.positive;
    all.negative += part.negative;
    all.not_finite += part.not_finite;
    raise_to(all.largest_positive, part.largest_positive);
    raise_to(all.largest_negative, part.largest_negative);
    raise_to(all.smallest_positive, part.smallest_positive);
    raise_to(all.smallest_negative, part.smallest_negative);
}

} // namespace

template <class T>
void survey_diagonal(device& device, const held_diagonal<T>& diagonal, diagonal_counts* counts) {
    in_ranges(device, diagonal.count, [=](std::int64_t begin, std::int64_t end) {
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

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void survey_diagonal(device&, const held_diagonal<T>&, diagonal_counts*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
