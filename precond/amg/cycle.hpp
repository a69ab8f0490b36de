// One multigrid cycle over a hierarchy of type W, under a solver whose vectors are of type T.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <krylith/precond/amg/hierarchy.hpp>
#include <krylith/precond/amg/relaxations.hpp>
#include <krylith/vector/kept/execution_register.hpp>

namespace krylith::detail {

/// The same for any W.
template <class T>
class level_cycle {
public:
    virtual ~level_cycle() = default;
    /// Whether there is what update() needs.
    [[nodiscard]] virtual bool keeps_plans() const = 0;
    /// Takes new values. Returns false where the hierarchy is not for them: it must be made anew.
    virtual bool update(const distributed_csr<T>& a, const amg_options& options) = 0;
    /// Makes the hierarchy anew, of the same rows. Returns false, and changes nothing, where it
    /// would lack digits.
    virtual bool rebuild(const distributed_csr<T>& a, const amg_options& options) = 0;
    /// Whether the hierarchy lacks digits: there is none then, or one that ends early.
    [[nodiscard]] virtual bool lacks_digits() const = 0;
    virtual void apply(execution& run, const vector<T>& r, vector<T>& z,
                       std::span<const reduction_into<T>> dots) = 0;
    [[nodiscard]] virtual bool recordable() const = 0;
    [[nodiscard]] virtual bool symmetric() const = 0;
    [[nodiscard]] virtual const coarsening_method& way() const = 0;
    [[nodiscard]] virtual bool gave_up() const = 0;
    /// The near-null vectors that were given, or none.
    [[nodiscard]] virtual near_null_space<T> near_null() const = 0;
    [[nodiscard]] virtual std::int64_t bytes() const = 0;
    [[nodiscard]] virtual std::vector<multigrid_level_facts> levels() const = 0;
};

/// The vectors of a level.
template <class W>
struct cycle_vectors {
    std::optional<vector<W>> r; ///< the residual, which restrict or inverse multiplies
    std::optional<vector<W>> z; ///< the last change of x, which b multiplies
    std::optional<vector<W>> x; ///< the sum of the changes but the last
    std::optional<vector<W>> e; ///< the result, which prolong of the level above multiplies
};

template <class T, class W>
class multigrid_cycle_apply final : public level_cycle<T> {
public:
    /// The options are checked. `fine` is the layout of one column, whatever vectors have; `source`
    /// what a hierarchy is made of.
    template <class Source>
    multigrid_cycle_apply(layout_handle fine, const Source& source, const amg_options& options,
                          near_null_space<W> near_null, const column_vectors& vectors);

    [[nodiscard]] bool keeps_plans() const override { return hierarchy_.keeps_plans(); }
    bool update(const distributed_csr<T>& a, const amg_options& options) override;
    bool rebuild(const distributed_csr<T>& a, const amg_options& options) override;
    [[nodiscard]] bool lacks_digits() const override {
        return sizeof(W) < sizeof(T) && hierarchy_.lacks_digits();
    }
    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) override;
    [[nodiscard]] bool recordable() const override;
    [[nodiscard]] bool symmetric() const override { return hierarchy_.symmetric(); }
    [[nodiscard]] const coarsening_method& way() const override { return hierarchy_.way(); }
    [[nodiscard]] bool gave_up() const override { return hierarchy_.gave_up(); }
    [[nodiscard]] near_null_space<T> near_null() const override {
        return in_precision<T>(hierarchy_.fine()->comm, hierarchy_.given());
    }
    [[nodiscard]] std::int64_t bytes() const override;
    [[nodiscard]] std::vector<multigrid_level_facts> levels() const override;

private:
    void make_vectors();
    void take_scale();
    void run_cycle(execution& run, const vector<T>& from, vector<T>& to,
                   std::span<const reduction_into<T>> dots);
    void visit(execution& run, std::size_t at, bool from_zero, bool again);
    void smooth_before(execution& run, std::size_t at, bool from_zero);
    void correct(execution& run, std::size_t at);
    void smooth_after(execution& run, std::size_t at);
    [[nodiscard]] relaxation_step last_step() const;

    hierarchy<W> hierarchy_;
    int columns_;
    std::vector<relaxation_step> steps_;
    multigrid_cycle cycle_;
    std::vector<cycle_vectors<W>> vectors_; ///< [levels]
    std::optional<vector<W>> spread_r_;     ///< r of a gathered level, before it is gathered
    std::optional<vector<W>> scale_;        ///< S of the first level, times a power of two
    std::shared_ptr<double> in_ = std::make_shared<double>(1.0);  ///< B x = in S r / |r|
    std::shared_ptr<double> out_ = std::make_shared<double>(1.0); ///< z = out |r| S x
    execution_register norm_;                                     ///< of r, squared
};

} // namespace krylith::detail
