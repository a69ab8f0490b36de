// y = A x on one device by the kernel that fits the vector at hand: the trees read features of the
// vector as they need them, the kernel changes when that pays, and a record says what was chosen.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <krylith/spmspv/kernel_model.hpp>
#include <krylith/spmspv/product.hpp>

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

private:
    unmoved<std::shared_ptr<const csr_csc_pair<M>>> a_;
    unmoved<std::shared_ptr<const kernel_model>> model_;
    std::optional<kernel> fixed_;
    bool reproducible_;
    bool as_predicted_;
    kernel_switch switch_;
    product_scratch scratch_;
};

} // namespace krylith::spmspv
