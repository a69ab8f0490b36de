// The two slower versions of a paper, which the library's product is compared with: every phase
// begins where the last one has ended on all devices, and the host adds up their results.
// (Chen et al., MSREP: A Fast yet Light Sparse Matrix Framework for Multi-GPU Systems,
// arXiv:2209.07552.)
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <krylith/bench/streamed/paper_device.hpp>
#include <krylith/bench/streamed/streamed_contestant.hpp>
#include <krylith/spmv/streaming/streamed_workers.hpp>

namespace krylith::bench {

enum class paper_version {
    baseline, ///< equal rows (columns of CSC and of COO by columns), one thread
    p         ///< equal nonzeros, a thread a device
};

class paper_product final : public streamed_contestant {
public:
    paper_product(device_group group, paper_version version);

    /// A is not checked. The sum of a row is taken in the order of ranks.
    streamed_times multiply(const streamed_matrix<double>& a, std::span<const double> x,
                            std::span<double> y) override;
    [[nodiscard]] double kernel_seconds(int repetitions) override;

private:
    /// body(rank) for each rank: by a thread a device, or by the caller's.
    template <class Body>
    void for_ranks(const Body& body);

    device_group group_;
    paper_version version_;
    std::vector<int> ranks_; // 0, 1, 2 ...
    streamed_workers workers_;
    std::vector<std::unique_ptr<paper_device>> devices_; // by rank
};

/// Equal major indices for each rank (equal entries where these are unsorted), or equal entries.
[[nodiscard]] pcsr split_for_paper(const streamed_matrix<double>& a, paper_version version,
                                   int ranks);

} // namespace krylith::bench
