// The filter that turns y into the next x on one device: the kernels of frontier.hpp with their
// memory, and the choice of backend and of the kernel for the forms that y has.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/graph/frontier/frontier.hpp>
#include <krylith/graph/frontier/power_step.hpp>
#include <krylith/spmspv/kernels/vector_fill.hpp>

namespace krylith::spmspv {

/// Filters one vector at a time: enqueue(), then wait(). It is not copyable. Rule is one of
/// frontier_rules.hpp, with its memory on the same device.
class frontier_filter {
public:
    /// `rows` is the number of the device's rows; their columns have entries in `parts` parts.
    /// Memory: a bit a row, on CUDA 40 KiB more.
    frontier_filter(std::shared_ptr<device> device, std::int64_t rows, int parts);

    /// Enqueues the filter: next becomes what the rule keeps of y, as pairs in the same order where
    /// y has pairs, else as bits and dense values. `most` is at least the number of y's entries. y
    /// stays as it is.
    template <class Rule>
    void enqueue(const Rule& rule, sparse_vector<typename Rule::value_type>& y,
                 sparse_vector<typename Rule::value_type>& next, const column_lengths& lengths,
                 std::int64_t most);
    /// Enqueues the filter for every row, as if y were absent() everywhere and every row an entry.
    template <class Rule>
    void enqueue_all(const Rule& rule, sparse_vector<typename Rule::value_type>& next,
                     const column_lengths& lengths);

    /// Enqueues a step of all rows (power_step.hpp) and, if they are `wanted`, the posting of its
    /// sums. `next` becomes dense, with every row an entry. A null y stands for y = 0, in the first
    /// step. Several steps may follow each other before sums(), which belongs to the last one; its
    /// sums must have been wanted.
    template <class T>
    void enqueue_step(const power_step<T>& step, sparse_vector<T>* y, sparse_vector<T>& next,
                      bool wanted);
    /// Enqueues the step of y = A x over plus_second in one kernel that stores no y. CUDA only. x
    /// is dense and must not be `next`.
    template <class T, class M>
    void enqueue_product(const power_step<T>& step, const csr_csc_pair<M>& a,
                         const sparse_vector<T>& x, sparse_vector<T>& next, bool wanted);
    struct step_sums {
        double magnitudes; ///< the sum of |residual| before the step
        double residuals;  ///< the sum of residuals after the following product
        double ranks;      ///< the sum of ranks before the step
    };
    /// Returns the sums of the last step (power_step_arguments::post). Waits for it; throws
    /// device_error where the device failed.
    [[nodiscard]] step_sums sums();

    struct kept {
        std::int64_t entries;
        std::span<const std::int64_t> frontier_nonzeros; ///< the sum of the columns' lengths for
                                                         ///< each part
    };
    /// Waits until the device has decided and returns what it kept; `next` then has its forms.
    /// Throws device_error where the device failed.
    template <class T>
    [[nodiscard]] kept wait(sparse_vector<T>& next);

    /// Returns the sum of an array on the device, in double and in a fixed order. Waits.
    template <class T>
    [[nodiscard]] double sum(const T* values, std::int64_t count);

private:
    template <class T>
    [[nodiscard]] power_step_arguments<T> step_into(sparse_vector<T>& next, const T* y,
                                                    bool wanted);

    std::shared_ptr<device> device_;
    buffer<std::byte> scratch_;
    std::size_t parts_;
    posted_words posted_;
    vector_forms forms_; ///< forms of the next x that is being made
    bool ascending_ = true;
};

} // namespace krylith::spmspv
