#include <krylith/precond/sweeps/colour_sweeps.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/loops/running_sums.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/matrix/matrix_exchange.hpp>
#include <krylith/precond/matrix/memory_item.hpp>
#include <krylith/precond/sweeps/sweep_steps.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith::detail {

template <class T>
colour_sweeps<T>::colour_sweeps(const layout& rows, const distributed_csr<T>& a, double omega,
                                bool symmetric)
    : layout_(std::make_shared<const layout>(layout{rows.comm, rows.rows})),
      omega_(static_cast<T>(omega)),
      symmetric_(symmetric),
      colours_(colour_rows(a)) {
    lower_.resize(as_size(rows.comm.ranks()));
    if (symmetric_) upper_.resize(lower_.size());
    for (const int rank : rows.comm.local()) {
        make_direction(a, rank, true);
        if (symmetric_) make_direction(a, rank, false);
    }
    start_.emplace(layout_, precond_item);
    v_.emplace(layout_, precond_item, exchange_of<T>(layout_, a.all_columns()));
    v_->promise_single_reader();
    take(rows, a);
}

/// Counts the entries of a sweep.
template <class T>
void colour_sweeps<T>::make_direction(const distributed_csr<T>& a, int rank, bool forward) {
    const auto& device = a.comm().handle(rank);
    const std::int64_t rows = a.block(rank).rows();
    direction& made = entries(forward)[as_size(rank)];
    made.offsets = {device, as_size(rows + 1), precond_item};
    {
        const buffer<std::int32_t> counts(device, as_size(rows), precond_item);
        visit_rows(*device, rows, 1,
                   count_sweep_step{{{},
                                     aggregation::rows_of(a, rank),
                                     colours_.of_columns(rank),
                                     colours_.order(rank),
                                     forward},
                                    counts.data()});
        add_up_sizes(device, rows, counts.data(), made.offsets.data());
    }
    std::int64_t count = 0;
    device->download(&count, made.offsets.data() + rows, sizeof count);
    made.columns = {device, as_size(count), precond_item};
    made.values = {device, as_size(count), precond_item};
}

namespace {

/// The largest exponent of all ranks' diagonals, biased. Refuses the first entry that has no
/// inverse.
std::uint64_t largest_exponent(const layout& rows, std::span<const inversion_report> reports) {
    std::uint64_t most = 0;
    std::int64_t rank = 0;
    for (const inversion_report& report : reports) {
        const std::int64_t first = rows.rows.begin[as_size(rank++)];
        most = std::max(most, report.exponent);
        if (report.bad == 0) continue;
        const std::int64_t row = first + static_cast<std::int64_t>(~report.bad);
        throw input_error("gauss-seidel: the diagonal entry of row " +
                          std::to_string(rows.row_of_caller(row)) +
                          " (counted from 0), or its inverse, is zero or not finite");
    }
    return most;
}

} // namespace

template <class T>
void colour_sweeps<T>::take(const layout& rows, const distributed_csr<T>& a) {
    const communicator& comm = a.comm();
    std::vector<buffer<T>> inverse(lower_.size());
    const auto device_reports = by_rank(comm, [&](int rank) {
        const std::int64_t count = a.block(rank).rows();
        buffer<T>& mine = inverse[as_size(rank)];
        mine = {comm.handle(rank), as_size(count), precond_item};
        buffer<inversion_report> report(comm.handle(rank), 1, precond_item);
        report.zero();
        visit_rows(
            comm[rank], count, 1,
            take_diagonal_step<T>{
                {}, aggregation::rows_of(a, rank), a.block(rank).view().values, mine.data()});
        KRYLITH_ON(comm[rank], invert_diagonal(comm[rank], mine.data(), count, report.data()));
        return report;
    });
    auto reports =
        by_rank(comm, [&](int rank) { return device_reports[as_size(rank)].download().front(); });
    comm.all_gather(reports);
    const std::uint64_t most = largest_exponent(rows, reports);
    // Products such as r'M^-1 r must neither overflow nor vanish; z is linear in the first factor.
    constexpr int usual = sizeof(T) == 8 ? 130 : 40;
    const int exponent =
        most == 0
            ? 0
            : static_cast<int>(static_cast<std::int64_t>(most) - inversion_report::exponent_bias);
    const T size = std::abs(exponent) <= usual ? T(1) : std::ldexp(T(1), -exponent / 2 * 2);
    for (const int rank : comm.local()) {
        const std::int64_t count = a.block(rank).rows();
        T* const inverses = inverse[as_size(rank)].data();
        visit_rows(comm[rank], count, 1,
                   scale_step<T>{{},
                                 inverses,
                                 size * (symmetric_ ? omega_ * (2 - omega_) : omega_),
                                 start_->data(rank)});
        visit_rows(comm[rank], count, 1, scale_step<T>{{}, inverses, omega_, inverses});
        for (const bool forward : {true, false}) {
            if (!forward && !symmetric_) break;
            direction& to = entries(forward)[as_size(rank)];
            visit_rows(comm[rank], count, 1,
                       fill_sweep_step<T>{{{},
                                           aggregation::rows_of(a, rank),
                                           colours_.of_columns(rank),
                                           colours_.order(rank),
                                           forward},
                                          a.block(rank).view().values,
                                          inverses,
                                          to.offsets.data(),
                                          to.columns.data(),
                                          to.values.data()});
        }
    }
}

/// A product that adds to its own factor: rows of a colour read no row of that colour.
template <class T>
void colour_sweeps<T>::sweep(execution& run, int colour, bool forward) {
    run.open({});
    run.publish({});
    const ghost_exchange<T>* const ghosts = v_->exchange();
    if (ghosts != nullptr) run.join_opened();
    for (const int rank : run.comm().local()) {
        spmv_arguments<T> a{};
        a.common = run.at(rank);
        a.x = v_->data(rank) - (ghosts != nullptr ? ghosts->below(rank) : 0);
        a.y = v_->data(rank);
        a.alpha = 1;
        a.beta = 1;
        a.reduce = run.partials(rank);
        if (ghosts != nullptr) {
            a.ghosts = ghosts->arrived(rank);
            a.credit = credit_of(ghosts->channel_of(rank));
        }
        const direction& of = entries(forward)[as_size(rank)];
        const auto begin = colours_.begin(rank);
        const std::int64_t first = begin[as_size(colour)];
        const std::int64_t rows = layout_->rows.owned(rank).size();
        const colour_rows_view<T> swept{
            begin[as_size(colour + 1)] - first,
            colours_.order(rank) + first,
            of.offsets.data() + first,
            of.columns.data(),
            of.values.data(),
            rows == 0 ? 0 : static_cast<std::int64_t>(of.values.size()) / rows};
        KRYLITH_ON(layout_->comm[rank], sweep_rows(layout_->comm[rank], swept, a));
    }
    run.close();
}

template <class T>
void colour_sweeps<T>::run(execution& run, const vector<T>& r) {
    const auto arrays =
        by_rank(run.comm(), [&](int rank) { return r.data(rank) + r.layout()->first_owned(rank); });
    const vector<T> own = vector<T>::borrow(layout_, arrays);
    fused(run, *v_ = pointwise(*start_, own));
    const int last = colours_.count() - 1;
    for (int colour = 1; colour <= last; ++colour) {
        sweep(run, colour, true);
        if (symmetric_ || colour < last) put_ghosts(run, *v_);
    }
    for (int colour = last - 1; symmetric_ && colour >= 0; --colour) {
        sweep(run, colour, false);
        if (colour > 0) put_ghosts(run, *v_);
    }
}

template <class T>
int colour_sweeps<T>::kernels() const noexcept {
    const int sweeps = std::max(0, colours_.count() - 1) * (symmetric_ ? 2 : 1);
    return 1 + (layout_->comm.ranks() > 1 ? 2 : 1) * sweeps;
}

template <class T>
std::int64_t colour_sweeps<T>::bytes(int rank) const {
    const auto of = [&](const std::vector<direction>& all) {
        if (all.empty()) return std::size_t{0};
        const direction& d = all[as_size(rank)];
        return d.offsets.size() * sizeof(std::int64_t) + d.columns.size() * sizeof(std::int32_t) +
               d.values.size() * sizeof(T);
    };
    const std::int64_t rows = layout_->rows.owned(rank).size();
    const std::int64_t ghosts =
        static_cast<std::int64_t>(colours_.bytes(rank) / 4) - 2 * rows; // of the columns
    return static_cast<std::int64_t>(of(lower_) + of(upper_)) + colours_.bytes(rank) +
           (2 * rows + ghosts) * static_cast<std::int64_t>(sizeof(T));
}

#define KRYLITH_INSTANTIATE(T) template class colour_sweeps<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
