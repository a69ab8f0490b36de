// What an amg keeps: a cycle, and what its updates go by.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/precond/amg/cycle.hpp>
#include <krylith/precond/amg/hierarchy_age.hpp>
#include <krylith/precond/matrix/matrix_pattern.hpp>
#include <krylith/precond/matrix/matrix_preconditioner.hpp>

namespace krylith::detail {

/// Options are checked.
template <class T>
class amg_work final : public matrix_work<T> {
public:
    amg_work(const matrix_operator<T>& a, const matrix_ref<T>& matrix, const amg_options& options);
    /// Of given levels, which has no update().
    amg_work(const matrix_operator<T>& a, std::span<const multigrid_level_matrices<T>> levels,
             const amg_options& options);

    bool update(const matrix_ref<T>& matrix) override;
    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) override;
    [[nodiscard]] bool recordable() const override { return cycle_->recordable(); }
    [[nodiscard]] int kernels() const override;
    [[nodiscard]] std::int64_t bytes() const override { return cycle_->bytes(); }

    [[nodiscard]] const level_cycle<T>& cycle() const { return *cycle_; }
    /// Those in effect, without near_null.
    [[nodiscard]] const amg_options& options() const { return options_; }
    [[nodiscard]] int near_null_vectors() const { return near_null_vectors_; }
    [[nodiscard]] bool given() const { return given_; }
    [[nodiscard]] hierarchy_age& age() { return age_; }

private:
    amg_work(const matrix_operator<T>& a, const amg_options& options);
    template <class Source>
    void make(const Source& source, multigrid_precision precision);
    /// update() of this driver.
    [[nodiscard]] bool take(const matrix_ref<T>& matrix);
    /// Says in the options how the hierarchy was coarsened.
    void note_coarsening();

    layout_handle layout_;   ///< of the operator; of one column where it has several
    layout_handle vectors_;  ///< of what it is applied to
    column_vectors columns_; ///< of these, where they are several
    amg_options options_;    ///< in effect
    amg_options asked_;      ///< with the nodes that were found
    bool finds_nodes_ = false;
    bool has_near_null_ = false; ///< vectors that were given
    int near_null_vectors_ = 1;
    bool given_ = false;    ///< levels that were given
    multigrid_reuse reuse_; ///< what is asked for; for automatic what that means now
    hierarchy_age age_;
    matrix_pattern pattern_;
    std::unique_ptr<level_cycle<T>> cycle_;
};

} // namespace krylith::detail
