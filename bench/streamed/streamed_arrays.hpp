// A matrix in the formats of streamed products, in pageable and in pinned host memory.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <krylith/bench/common/workload.hpp>
#include <krylith/bench/streamed/streamed_contestant.hpp>
#include <krylith/device/numa.hpp>

namespace krylith::bench {

/// csr, csc, coo (by rows), coo-columns, coo-unsorted.
[[nodiscard]] const std::vector<std::string>& streamed_formats();

/// The arrays of a matrix in one format, and what products with it need.
class streamed_arrays {
public:
    /// Throws usage_error for another format. The workload's matrix must be square, and outlive
    /// this.
    streamed_arrays(const workload& w, const std::string& format);

    /// From here on products are of copies that are pinned for the devices of the group, an array a
    /// page at least. The devices must outlive them.
    void pin(const device_group& group);

    /// y = A b; `pinned` only after pin().
    streamed_times multiply(streamed_contestant& product, bool pinned);
    /// Of the last product.
    [[nodiscard]] std::span<const double> result() const { return result_; }

private:
    template <class E>
    struct array {
        std::vector<E> own;
        std::span<const E> from; ///< own, or the workload's
        node_memory pinned_memory;

        [[nodiscard]] std::span<const E> at(bool pinned) const {
            return pinned ? std::span(reinterpret_cast<const E*>(pinned_memory.data()), from.size())
                          : from;
        }
    };

    const workload& w_;
    streamed_form form_ = streamed_form::csr;
    array<std::int64_t> offsets_;
    array<std::int32_t> rows_;
    array<std::int32_t> columns_;
    array<double> values_;
    array<double> x_;
    array<double> y_;
    std::span<const double> result_;
};

} // namespace krylith::bench
