#include <krylith/bench/streamed/paper_product.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <krylith/config.hpp>
#include <krylith/device/numa.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

namespace {

std::unique_ptr<paper_device> make_device(const device_group& group, int rank) {
#if KRYLITH_HAVE_CUDA
    if (group.kind() == backend::cuda) {
        return make_cuda_paper_device(group.handle(rank));
    }
#endif
    return make_host_paper_device(group.handle(rank));
}

/// The first entry of a row (column), or of a later one.
std::int64_t first_entry(const streamed_matrix<double>& a, std::int64_t major) {
    if (compressed(a.form)) {
        return a.offsets[as_size(major)];
    }
    return std::ranges::lower_bound(a.major_indices(), major) - a.major_indices().begin();
}

/// The pointer array of a range, from 0. None of coordinates.
std::vector<std::int32_t> local_pointers(const streamed_matrix<double>& a,
                                         const major_range& range) {
    std::vector<std::int32_t> result;
    if (compressed(a.form)) {
        for (std::int64_t i = range.start_major; i <= range.end_major; ++i) {
            result.push_back(static_cast<std::int32_t>(
                range_offset(a.offsets[as_size(i)], range.start_idx, range.end_idx)));
        }
    }
    return result;
}

/// y from the results of all ranks: of their own rows, or of all rows.
void merge(const streamed_matrix<double>& a, const pcsr& parts,
           std::span<const std::span<const double>> sums, std::span<double> y) {
    if (!by_rows(a.form)) {
        std::ranges::copy(sums.front(), y.begin());
        for (std::size_t k = 1; k < sums.size(); ++k) {
            for (std::size_t i = 0; i < y.size(); ++i) {
                y[i] += sums[k][i];
            }
        }
        return;
    }
    for (std::size_t k = 0; k < sums.size(); ++k) {
        const row_range own = parts.ranges[k].owned();
        std::copy_n(sums[k].begin() + (own.begin - parts.ranges[k].start_major), own.size(),
                    y.begin() + own.begin);
    }
    for (const shared_major& shared : parts.shared) {
        for (int k = shared.first + 1; k <= shared.last; ++k) {
            if (parts.ranges[as_size(k)].entries() > 0) {
                y[as_size(shared.major)] += sums[as_size(k)].front();
            }
        }
    }
}

} // namespace

pcsr split_for_paper(const streamed_matrix<double>& a, paper_version version, int ranks) {
    nonzero_partition cuts = equal_entries(a.entries(), ranks);
    if (version == paper_version::baseline && a.form != streamed_form::coo_unsorted) {
        const row_partition majors = equal_rows(a.major_size(), ranks);
        for (std::size_t k = 1; k < as_size(ranks); ++k) {
            cuts.begin[k] = first_entry(a, majors.begin[k]);
        }
    }
    return split_nonzeros(a, cuts);
}

paper_product::paper_product(device_group group, paper_version version)
    : group_(std::move(group)),
      version_(version),
      ranks_(as_size(group_.size())),
      workers_(one_numa_node(group_.size())) {
    std::iota(ranks_.begin(), ranks_.end(), 0);
    for (const int rank : ranks_) {
        devices_.push_back(make_device(group_, rank));
    }
}

template <class Body>
void paper_product::for_ranks(const Body& body) {
    if (version_ == paper_version::p) {
        return workers_.run(ranks_, body);
    }
    std::ranges::for_each(ranks_, body);
}

streamed_times paper_product::multiply(const streamed_matrix<double>& a, std::span<const double> x,
                                       std::span<double> y) {
    streamed_times times;
    tool::stopwatch watch;
    const pcsr parts = split_for_paper(a, version_, group_.size());
    std::vector<std::vector<std::int32_t>> pointers(devices_.size());
    if (group_.kind() == backend::cuda) { // host devices read the arrays of the caller
        for_ranks([&](int rank) {
            pointers[as_size(rank)] = local_pointers(a, parts.ranges[as_size(rank)]);
        });
    }
    times.partition = watch.lap();
    for_ranks([&](int rank) {
        const auto r = as_size(rank);
        devices_[r]->upload(a, parts.ranges[r], pointers[r], x);
    });
    times.distribution = watch.lap();
    for_ranks([&](int rank) { devices_[as_size(rank)]->multiply(); });
    group_.synchronize();
    times.kernel = watch.lap();
    std::vector<std::span<const double>> sums(devices_.size());
    for_ranks([&](int rank) { sums[as_size(rank)] = devices_[as_size(rank)]->download(); });
    merge(a, parts, sums, y);
    times.merge = watch.lap();
    times.total = times.partition + times.distribution + times.kernel + times.merge;
    for (const auto& device : devices_) {
        times.conversion = std::max(times.conversion, device->conversion_seconds());
    }
    return times;
}

double paper_product::kernel_seconds(int repetitions) {
    for (const auto& device : devices_) {
        device->repeat_kernels(repetitions);
    }
    double slowest = 0;
    for (const auto& device : devices_) {
        slowest = std::max(slowest, device->repeated_seconds());
    }
    return slowest;
}

} // namespace krylith::bench
