// y = A x on one device by the kernel that fits the vector at hand: the trees read features of the
// vector as they need them, the kernel changes when that pays, and a record says what was chosen.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <krylith/spmspv/kernel_model.hpp>
#include <krylith/spmspv/product.hpp>
#include <krylith/spmspv/selection/kernel_rehearsal.hpp>

namespace krylith::spmspv {

/// Decides whether to follow a prediction: pure, so that it is tested without a device.
class kernel_switch {
public:
    /// A change of direction is followed at once where the effective ratio has changed by `factor`
    /// or more since the last change, else when it has been predicted twice in a row. Changes
    /// within a direction, which convert nothing, are followed at once.
    explicit kernel_switch(double factor = 2) : factor_(factor) {}
    /// Returns the kernel to use. `effective_ratio` is the caller's best guess, of the same kind
    /// each time; any number.
    [[nodiscard]] kernel decide(kernel predicted, double effective_ratio);
    [[nodiscard]] std::optional<kernel> current() const noexcept { return current_; }

private:
    double factor_;
    std::optional<kernel> current_;
    std::optional<direction> before_; ///< the last prediction, if it was not followed
    double ratio_ = 0;                ///< at the last change
};

struct adaptive_options {
    std::optional<kernel> fixed = {}; ///< always this kernel; empty: the model chooses
    std::shared_ptr<const kernel_model> model = nullptr; ///< null: model_for() the device
    /// Whether products have the same bits every time: where the semiring is not exact, sort takes
    /// the place of atomic kernels. A `fixed` kernel that does not have them is a usage_error.
    bool reproducible = false;
    /// Whether to use the model's kernel each time: without a row kernel in its place where the
    /// semiring's first term suffices, and without waiting for a second prediction. It is meant for
    /// comparing models.
    bool as_predicted = false;
    /// Whether records say how long the parts of a product took. The host waits for the device
    /// between the parts, so that it is for measurements of the choice alone.
    bool clocked = false;
    /// In how many rounds all eight kernels are timed before each product, for `rehearsed` of its
    /// record; 0: never. It takes a vector as large as y, and as long as kernel_rehearsal.hpp says.
    int rehearsals = 0;

    /// Whether records say more than what was chosen: `parts` or `rehearsed`.
    [[nodiscard]] bool measure() const noexcept { return clocked || rehearsals > 0; }
};

/// The seconds of the parts of one product, each from an idle device until the device is idle (of
/// the processor for conversions and kernels on a host device of one thread).
struct product_parts {
    double features = 0;    ///< numbers about x that trees asked for, with the wait for them
    double model = 0;       ///< the trees themselves, on the host
    double conversions = 0; ///< of x to the form that the kernel reads, of y to the one wanted
    double kernel = 0;      ///< with what prepares y
};

/// What one call did.
struct product_record {
    kernel used = kernel::spmv;
    /// The prediction of the trees; where the semiring's first term suffices, the row kernel in
    /// place of spmv, and of column kernels for x of many entries. `used` where the kernel was
    /// fixed.
    kernel predicted = kernel::spmv;
    std::int64_t entries = -1;           ///< entries of x; -1: no tree asked
    std::int64_t frontier_nonzeros = -1; ///< effective nonzeros; -1: no tree asked
    double select_seconds =
        0; ///< time on the host for features and trees, with waits for the device
    product_parts parts = {};                        ///< 0 unless options.clocked
    std::array<double, kernel_count> rehearsed = {}; ///< seconds by kernel, with conversions; 0
                                                     ///< unless options.rehearsals > 0
};

/// A product that chooses its kernel; not copyable. M is the type of the matrix values.
template <class S, class M>
class adaptive_product {
public:
    using T = typename S::value_type;
    /// Throws usage_error for a null matrix or options that contradict each other, and what
    /// model_for() throws.
    explicit adaptive_product(std::shared_ptr<const csr_csc_pair<M>> a,
                              const adaptive_options& options = {});

    /// Enqueues y = A x (product.hpp). `frontier_nonzeros` is the number of effective nonzeros if
    /// the caller knows it, which saves a wait. Throws like multiply().
    product_record operator()(sparse_vector<T>& x, sparse_vector<T>& y,
                              const product_options<T>& options = {},
                              std::int64_t frontier_nonzeros = -1);

    /// Forgets what was chosen before, so that a run of products chooses as the first run did.
    void restart() { switch_ = kernel_switch(); }

    [[nodiscard]] const csr_csc_pair<M>& matrix() const { return *a_; }
    [[nodiscard]] const kernel_model& model() const { return *model_; }
    [[nodiscard]] const std::optional<kernel>& fixed() const noexcept { return fixed_; }
    /// Whether the kernel is chosen freely: not fixed, nor as_predicted.
    [[nodiscard]] bool chooses() const noexcept { return !fixed_ && !as_predicted_; }
    /// Whether records have more than what was chosen: parts or rehearsals.
    [[nodiscard]] bool measures() const noexcept { return clocked_ || rehearsal_ != nullptr; }

private:
    [[nodiscard]] product_record choose(sparse_vector<T>& x, vector_form wanted,
                                        std::int64_t frontier_nonzeros);
    void multiply_by_parts(product_record& record, sparse_vector<T>& x, sparse_vector<T>& y,
                           product_options<T> options);

    unmoved<std::shared_ptr<const csr_csc_pair<M>>> a_;
    unmoved<std::shared_ptr<const kernel_model>> model_;
    std::optional<kernel> fixed_;
    bool reproducible_;
    bool as_predicted_;
    bool clocked_;
    kernel_switch switch_;
    product_scratch scratch_;
    std::unique_ptr<kernel_rehearsal<S, M>> rehearsal_; ///< null: none
};

} // namespace krylith::spmspv
