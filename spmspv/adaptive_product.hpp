// y = A x on one device by the kernel that fits the moment: features of the vector are looked at as
// the trees ask for them, the kernel changes when it pays, and what was chosen is told.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <krylith/spmspv/kernel_model.hpp>
#include <krylith/spmspv/product.hpp>

namespace krylith::spmspv {

/// Whether to follow a prediction: pure, so that it is tested without a device.
class kernel_switch {
public:
    /// A change of pattern is followed at once where the effective ratio has changed by `factor` or
    /// more since the last change, else when it has been predicted twice in a row. Changes within a
    /// pattern, which convert nothing, are followed at once.
    explicit kernel_switch(double factor = 2) : factor_(factor) {}
    /// `effective_ratio`: the caller's best guess, of the same kind each time; any number.
    [[nodiscard]] kernel decide(kernel predicted, double effective_ratio);
    [[nodiscard]] std::optional<kernel> current() const noexcept { return current_; }

private:
    double factor_;
    std::optional<kernel> current_;
    std::optional<direction> before_; ///< predicted last, not followed
    double ratio_ = 0;                ///< at the last change
};

struct adaptive_options {
    std::optional<kernel> fixed = {};                    ///< no choice: always this one
    std::shared_ptr<const kernel_model> model = nullptr; ///< null: model_for() the device
    /// The same bits every time: where the semiring is not exact, atomic kernels give way to sort.
    /// usage_error together with a `fixed` kernel that isn't.
    bool reproducible = false;
    /// The model's kernel each time: no row kernel in its stead where the semiring's first term
    /// suffices, and no waiting for a second prediction. To compare models with.
    bool as_predicted = false;
};

/// What happened in one call.
struct product_record {
    kernel used = kernel::spmv;
    /// By the trees; where the semiring's first term suffices, row for spmv and for columns of many
    /// entries. `used` where the kernel was fixed.
    kernel predicted = kernel::spmv;
    std::int64_t entries = -1;           ///< of x; -1: nobody asked
    std::int64_t frontier_nonzeros = -1; ///< effective nonzeros; -1: nobody asked
    double select_seconds = 0; ///< on the host: features and trees, with waits for the device
};

/// Not copyable. M: the matrix' values.
template <class S, class M>
class adaptive_product {
public:
    using T = typename S::value_type;
    /// Throws usage_error for no matrix or options that contradict each other, and what model_for()
    /// throws.
    explicit adaptive_product(std::shared_ptr<const csr_csc_pair<M>> a,
                              const adaptive_options& options = {});

    /// Enqueues y = A x (product.hpp). `frontier_nonzeros`: effective nonzeros if the caller knows
    /// them, which saves a wait. Throws like multiply().
    product_record operator()(sparse_vector<T>& x, sparse_vector<T>& y,
                              const product_options<T>& options = {},
                              std::int64_t frontier_nonzeros = -1);

    /// Forgets what was chosen before, so that a run of products chooses as the first run did.
    void restart() { switch_ = kernel_switch(); }

    [[nodiscard]] const csr_csc_pair<M>& matrix() const noexcept { return *a_; }
    [[nodiscard]] const kernel_model& model() const noexcept { return *model_; }
    [[nodiscard]] const std::optional<kernel>& fixed() const noexcept { return fixed_; }
    /// Whether it does so freely: not fixed, nor as_predicted.
    [[nodiscard]] bool chooses() const noexcept { return !fixed_ && !as_predicted_; }

private:
    std::shared_ptr<const csr_csc_pair<M>> a_;
    std::shared_ptr<const kernel_model> model_;
    std::optional<kernel> fixed_;
    bool reproducible_;
    bool as_predicted_;
    kernel_switch switch_;
    product_scratch scratch_;
};

} // namespace krylith::spmspv
