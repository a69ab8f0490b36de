// Products y = A x on a device group with sparse x, step after step: each device multiplies its
// rows by the kernel that fits, a rule turns its part of y into its part of the next x, and these
// go to all devices.
//
// x is replicated: every device has all of it. y is owned: a device has its rows, counted from the
// first of them. Between steps each device sends what it has kept to every other, as pairs (4 + s
// bytes an entry; 4 for semirings that don't read x) or as a block of bits and dense values
// (n / 8 + n s bytes in total; n / 8), whichever is less. On one device nothing is sent.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <krylith/graph/frontier/frontier_filter.hpp>
#include <krylith/graph/frontier/group_matrix.hpp>
#include <krylith/spmspv/adaptive_product.hpp>

namespace krylith::spmspv {

/// The form in which the last step sent x to the other devices.
enum class exchange_form : std::uint8_t { none, pairs, dense };

[[nodiscard]] constexpr const char* to_string(exchange_form form) noexcept {
    return form == exchange_form::none ? "none" : form == exchange_form::pairs ? "pairs" : "dense";
}

/// The record of one product.
struct group_product_record {
    std::int64_t entries = 0;                 ///< entries of x
    std::int64_t frontier_nonzeros = 0;       ///< nonzeros in the columns where x has entries
    exchange_form sent = exchange_form::none; ///< how x was sent before the product
    std::vector<product_record> products;     ///< one for each device that has rows, in their order
    bool measured = false;                    ///< products have times of parts or of all kernels
};

/// Multiplies step after step. It is not copyable. S: a semiring; M: the type of the matrix'
/// values. Memory beside the matrix: on each device x takes 12 n + n / 8 bytes (fp32; 20 n + n / 8
/// in fp64), y as much for each of the device's rows, and with several devices the next x as much
/// again; and the kernels their scratch memory (spmspv/product.hpp).
template <class S, class M>
class group_product {
public:
    using T = typename S::value_type;
    using local_rows = typename group_matrix<M>::local_rows;

    /// Throws what adaptive_product throws, and device_error where memory is short.
    explicit group_product(std::shared_ptr<const group_matrix<M>> a,
                           const adaptive_options& options = {});

    [[nodiscard]] const group_matrix<M>& matrix() const { return *a_; }
    [[nodiscard]] const std::vector<local_rows>& local() const { return a_->local(); }

    /// Forgets which kernels were chosen before, so that the next products depend on their operands
    /// alone.
    void restart() {
        for (rank_state& here : states_) here.product->restart();
    }

    /// Sets x on all devices. Throws input_error for indices that are out of range or not distinct.
    /// Waits.
    void assign(std::span<const std::int32_t> indices, std::span<const T> values);

    /// The number of entries of x.
    [[nodiscard]] std::int64_t entries() const noexcept { return entries_; }
    /// The number of nonzeros in the columns where x has entries.
    [[nodiscard]] std::int64_t frontier_nonzeros() const noexcept;

    /// Enqueues y = A x. `skip_rows` has, for each device in local(), bits of the rows that y
    /// leaves out (spmspv/product.hpp), or is empty. `wanted` is the form in which y will be read;
    /// pairs stands for a rule of advance(), which takes any form.
    group_product_record multiply(std::span<const std::uint32_t* const> skip_rows = {},
                                  vector_form wanted = vector_form::pairs);

    /// Makes x of what rules keep of y. rule_of(m) returns the rule (frontier_rules.hpp) for the
    /// device local()[m], with its memory there. Waits for every device's decision, not for the
    /// transfers that follow.
    template <class RuleOf>
    void advance(const RuleOf& rule_of) {
        for (std::size_t m = 0; m < states_.size(); ++m)
            states_[m].filter->enqueue(rule_of(m), *states_[m].y, next(m), local()[m].lengths,
                                       most_of_y(m));
        send_kept();
    }
    /// Makes x of all rows, as if the product had reached each with absent(). y is not read.
    template <class RuleOf>
    void advance_all(const RuleOf& rule_of) {
        for (std::size_t m = 0; m < states_.size(); ++m)
            states_[m].filter->enqueue_all(rule_of(m), next(m), local()[m].lengths);
        send_kept();
    }

    /// Enqueues a step of all rows (power_step.hpp) with y = 0, which makes x. power_step_of(m)
    /// returns the step for the device local()[m], with its memory there. Doesn't wait.
    template <class PowerStepOf>
    void step_all(const PowerStepOf& power_step_of) {
        for (std::size_t m = 0; m < states_.size(); ++m)
            states_[m].filter->enqueue_step(
                power_step_of(m), static_cast<sparse_vector<T>*>(nullptr), next(m), false);
        send_all();
    }
    /// Enqueues y = A x, the step of all rows and, if they are `wanted`, the posting of its sums.
    /// For plus_second. On CUDA, where kernels may be chosen, this is one kernel, and y loses its
    /// content. Doesn't wait.
    template <class PowerStepOf>
    group_product_record multiply_and_step(const PowerStepOf& power_step_of, bool wanted) {
        if (!joins_steps()) {
            auto record = multiply({}, vector_form::dense);
            for (std::size_t m = 0; m < states_.size(); ++m)
                states_[m].filter->enqueue_step(power_step_of(m), states_[m].y.get(), next(m),
                                                wanted);
            send_all();
            return record;
        }
        group_product_record record{entries_, frontier_nonzeros(), sent_, {}};
        for (std::size_t m = 0; m < states_.size(); ++m) {
            rank_state& here = states_[m];
            here.x->require(vector_form::dense);
            here.filter->enqueue_product(power_step_of(m), *local()[m].part, *here.x, *here.y,
                                         wanted);
            std::swap(here.next ? here.next : here.x, here.y);
            record.products.push_back({kernel::spmv_balanced, kernel::spmv_balanced, entries_,
                                       here.frontier_nonzeros, 0});
        }
        send_all();
        return record;
    }

    /// Tells that x(0) of the only device has been replaced, and how many nonzeros its columns
    /// have. Throws usage_error where several devices have rows.
    void x_became(std::int64_t frontier_nonzeros);

    /// The vectors of the device local()[m], for tests and for products of other kinds between two
    /// calls of advance().
    [[nodiscard]] sparse_vector<T>& x(std::size_t m) { return *states_.at(m).x; }
    [[nodiscard]] sparse_vector<T>& y(std::size_t m) { return *states_.at(m).y; }
    [[nodiscard]] frontier_filter& filter(std::size_t m) { return *states_.at(m).filter; }
    [[nodiscard]] const kernel_model* model() const noexcept;

private:
    /// The state of a device that has rows.
    struct rank_state {
        std::unique_ptr<sparse_vector<T>> x;
        std::unique_ptr<sparse_vector<T>> y;
        std::unique_ptr<sparse_vector<T>> next; ///< null where there is one such device: x itself
                                                ///< is the next
        std::unique_ptr<adaptive_product<S, M>> product;
        std::unique_ptr<frontier_filter> filter;
        std::int64_t frontier_nonzeros = 0; ///< effective nonzeros in its rows
        std::int64_t kept = 0;              ///< entries of next
    };

    /// The value of entries of x that S doesn't read.
    static constexpr T present() { return S::absent() == T(0) ? T(1) : T(0); }

    [[nodiscard]] sparse_vector<T>& next(std::size_t m) {
        return states_[m].next ? *states_[m].next : *states_[m].x;
    }
    [[nodiscard]] bool joins_steps() const;
    [[nodiscard]] std::int64_t most_of_y(std::size_t m) const;
    void send_kept();
    void send_all();
    void send_pairs();
    void send_dense();

    unmoved<std::shared_ptr<const group_matrix<M>>> a_;
    std::vector<rank_state> states_;
    std::int64_t entries_ = 0;
    exchange_form sent_ = exchange_form::none;
};

} // namespace krylith::spmspv
