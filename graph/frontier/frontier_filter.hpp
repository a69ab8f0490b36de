// What one device needs to turn y into the next x: frontier.hpp with its memory, and the choice of
// backend and of the kernel for the forms that y has.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/graph/frontier/frontier.hpp>
#include <krylith/graph/frontier/power_step.hpp>

namespace krylith::spmspv {

/// Not copyable. One filtering at a time: enqueue(), then wait(). Rule is one of
/// frontier_rules.hpp, its memory is the device's.
class frontier_filter {
public:
    /// Of rows that have columns of their own in so many parts. A bit a row, on CUDA and 40 KiB.
    frontier_filter(std::shared_ptr<device> device, std::int64_t rows, int parts);

    /// Enqueues: next is what the rule keeps of y, as pairs where y has pairs, in the same order,
    /// else as bits and dense values. `most` is at least the number of y's entries. y loses
    /// nothing.
    template <class Rule>
    void enqueue(const Rule& rule, sparse_vector<typename Rule::value_type>& y,
                 sparse_vector<typename Rule::value_type>& next, const column_lengths& lengths,
                 std::int64_t most);
    /// The same of every row, as if y were absent() everywhere and all of that were entries.
    template <class Rule>
    void enqueue_all(const Rule& rule, sparse_vector<typename Rule::value_type>& next,
                     const column_lengths& lengths);

    /// Enqueues a step of all rows (power_step.hpp), and if they are `wanted` what posts its sums;
    /// `next` is dense, with every row an entry. `y` null: the first step, y is 0. Several may
    /// follow each other before sums(), which is of the last, where they were wanted.
    template <class T>
    void enqueue_step(const power_step<T>& step, sparse_vector<T>* y, sparse_vector<T>& next,
                      bool wanted);
    /// On CUDA: the same of y = A x over plus_second, in one kernel that stores no y. x is dense,
    /// and not `next`.
    template <class T, class M>
    void enqueue_product(const power_step<T>& step, const csr_csc_pair<M>& a,
                         const sparse_vector<T>& x, sparse_vector<T>& next, bool wanted);
    struct step_sums {
        double magnitudes; ///< of the residuals before
        double residuals;  ///< after the product that follows
        double ranks;      ///< before
    };
    /// Of the last step (power_step_arguments::post). Waits for it; throws device_error where the
    /// device failed.
    [[nodiscard]] step_sums sums();

    struct kept {
        std::int64_t entries;
        std::span<const std::int64_t> frontier_nonzeros; ///< sum of the columns' lengths, by part
    };
    /// Until the device has decided, and what became of it; `next` then knows what it holds. Throws
    /// device_error where the device failed.
    template <class T>
    [[nodiscard]] kept wait(sparse_vector<T>& next);

    /// The sum of an array on the device, in double and in a fixed order. Waits.
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
    vector_forms forms_; ///< of the next x, under way
    bool ascending_ = true;
};

// Enqueued, on either backend: see frontier.hpp. T: double, float, std::int32_t; of fill()
// std::uint32_t too.

template <class T>
void fill(device& device, T* to, std::int64_t count, T value);
template <class T>
void spread(device& device, const vector_arrays<T>& v, T present);
void shift(device& device, const std::int32_t* from, std::int32_t* to, std::int64_t count,
           std::int32_t by);

} // namespace krylith::spmspv
