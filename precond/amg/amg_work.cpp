#include <krylith/precond/amg/amg_work.hpp>

#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/precond/amg/nodes_of_pattern.hpp>
#include <krylith/precond/matrix/matrix_on_devices.hpp>

namespace krylith::detail {

namespace {

constexpr const char* amg_name = "amg";

} // namespace

/// In fp64 where fp32 lacks digits, whatever `precision` is; by aggregation where classical
/// coarsening, which was not asked for, fills up.
template <class T>
template <class Source>
void amg_work<T>::make(const Source& source, multigrid_precision precision) {
    amg_options options = asked_;
    options.precision = precision;
    options.reuse = reuse_;
    near_null_space<T> known;
    if (has_near_null_ && cycle_) known = cycle_->near_null(); // the caller's memory may be gone
    const auto of = [&]<class W>(W) -> std::unique_ptr<level_cycle<T>> {
        auto near_null = known.empty() ? make_near_null_space<W>(*layout_, options)
                                       : in_precision<W>(layout_->comm, known);
        options_.block_size = near_null.block;
        near_null_vectors_ = near_null.vectors;
        return std::make_unique<multigrid_cycle_apply<T, W>>(layout_, source, options,
                                                             std::move(near_null), columns_);
    };
    std::unique_ptr<level_cycle<T>> made;
    const auto make_cycle = [&] {
        if (sizeof(T) == 8 && options.precision != multigrid_precision::fp64) {
            made = of(float{});
            if (!made->lacks_digits()) return;
            options.precision = multigrid_precision::fp64;
        }
        made.reset(); // both need not fit beside each other
        made = of(T{});
    };
    make_cycle();
    if (options.coarsening == multigrid_coarsening::automatic && made->gave_up()) {
        options.coarsening = multigrid_coarsening::aggregation;
        options.precision = precision;
        made.reset();
        make_cycle();
    }
    cycle_ = std::move(made);
    options_.precision = options.precision;
    note_coarsening();
}

template <class T>
void amg_work<T>::note_coarsening() {
    options_.coarsening = cycle_->way().kind;
}

template <class T>
amg_work<T>::amg_work(const matrix_operator<T>& a, const amg_options& options)
    : layout_(square_layout(a.single().layouts(), amg_name)),
      vectors_(a.layout()),
      options_(options),
      asked_(options),
      has_near_null_(!options.near_null.empty()),
      reuse_(options.reuse) {
    const bool for_columns = a.columns_at_once() > 1; // which have no update()
    if (for_columns) columns_ = {a.layout(), a.columns_at_once()};
    if (for_columns || reuse_ == multigrid_reuse::automatic) reuse_ = multigrid_reuse::none;
}

// A set-up reads the values first, and waits for the devices many times after that.
template <class T>
amg_work<T>::amg_work(const matrix_operator<T>& a, const matrix_ref<T>& matrix,
                      const amg_options& options)
    : amg_work(a, options) {
    const auto rows = on_devices(amg_name, *layout_, matrix, part_values::borrowed);
    pattern_ = pattern_of(rows);
    const bool open = options.block_size == 0;
    finds_nodes_ = open && options.near_null.empty() && options.kind == multigrid_kind::automatic &&
                   options.precision != multigrid_precision::fp16 &&
                   options.coarsening != multigrid_coarsening::classical;
    if (open) asked_.block_size = finds_nodes_ ? symmetric_block_size(rows, *layout_) : 1;
    make(rows, asked_.precision);
    options_.near_null = asked_.near_null = {};
}

template <class T>
amg_work<T>::amg_work(const matrix_operator<T>& a,
                      std::span<const multigrid_level_matrices<T>> levels,
                      const amg_options& options)
    : amg_work(a, options) {
    given_ = true;
    if (asked_.block_size == 0) asked_.block_size = 1;
    make(levels, asked_.precision);
}

template <class T>
bool amg_work<T>::update(const matrix_ref<T>& matrix) {
    return layout_->comm.together([&] { return take(matrix); });
}

template <class T>
bool amg_work<T>::take(const matrix_ref<T>& matrix) {
    if (given_)
        throw usage_error("amg: the levels were given, and can't follow new values; make another "
                          "amg of new levels");
    const auto rows = on_devices(amg_name, *layout_, matrix, part_values::borrowed);
    pattern_.expect(amg_name, pattern_of(rows));
    if (asked_.reuse == multigrid_reuse::automatic) reuse_ = multigrid_reuse::transfer;
    if (finds_nodes_ && asked_.block_size > 1 && symmetric_block_size(rows, *layout_) == 1) {
        asked_.block_size = 1; // not symmetric any more
        make(rows, asked_.precision);
        age_.rebuilt();
        return false;
    }
    const bool keeps = cycle_->keeps_plans();
    const bool counts = keeps || age_.rebuild_due();
    amg_options again = options_;
    again.reuse = reuse_;
    if (!age_.rebuild_due() && keeps && cycle_->update(rows, again)) return true;
    again.coarsening = asked_.coarsening;
    if (options_.precision != asked_.precision) // the next values may need fewer digits
        make(rows, asked_.precision);
    else if (!cycle_->rebuild(rows, again))
        make(rows, multigrid_precision::fp64);
    else if (again.coarsening == multigrid_coarsening::automatic && cycle_->gave_up())
        make(rows, asked_.precision);
    note_coarsening();
    counts ? age_.rebuilt() : age_.begin();
    return false;
}

template <class T>
void amg_work<T>::apply(execution& run, const vector<T>& r, vector<T>& z,
                        std::span<const reduction_into<T>> dots) {
    if (r.layout() != vectors_ || z.layout() != vectors_)
        throw usage_error("preconditioner amg was made for vectors of another operator");
    cycle_->apply(run, r, z, dots);
}

template <class T>
int amg_work<T>::kernels() const {
    // A level has two kernels a step of each smoother, two transfers and a pass between them; with
    // cycle w levels are visited twice as often as the one above.
    const auto levels = static_cast<int>(cycle_->levels().size());
    const int visits = options_.cycle == multigrid_cycle::v ? levels : 4 * levels;
    return 3 + visits * (4 * options_.degree + 3);
}

#define KRYLITH_INSTANTIATE(T) template class amg_work<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
