// pcsr, pcsc and pcoo are one operator with two ways to cut between entries.
#include <algorithm>
#include <utility>

#include <krylith/spmv/cost/iteration_model.hpp>
#include <krylith/spmv/nonzero_split/nonzero_split_operator.hpp>
#include <krylith/spmv/subject/operator_subject.hpp>

namespace krylith {

namespace {

using cutter = nonzero_assignment (*)(const operator_pattern&, const nonzero_partition&);

nonzero_assignment by_rows(const operator_pattern& p, const nonzero_partition& entries) {
    return assign_by_rows(p.row_offsets, p.columns.rows(), entries);
}

nonzero_assignment by_columns(const operator_pattern& p, const nonzero_partition& entries) {
    return assign_by_columns(p.row_offsets, p.column_indices, p.columns.rows(), entries);
}

/// Equal entries a device. With one NUMA node, or nodes whose devices follow each other, that is
/// what make_numa_partition() says too; where they don't, it would put parts on other ranks than
/// theirs, which a row partition can't say. O(nnz).
template <cutter Cut>
nonzero_assignment assign(const operator_pattern& p) {
    return Cut(p,
               equal_entries(static_cast<std::int64_t>(p.column_indices.size()), p.group.size()));
}

template <cutter Cut>
void plan_split(operator_kind /*kind*/, operator_pattern& p) {
    (void)make_nonzero_split_plan(p.row_offsets, p.column_indices, assign<Cut>(p));
}

/// The cuts between entries decide which rank owns which rows and columns, so that those of the
/// subject are not used, unless layouts are given.
template <class T, cutter Cut>
std::unique_ptr<matrix_operator<T>> build_split(operator_kind kind, operator_subject<T>& subject) {
    nonzero_assignment assigned = assign<Cut>(subject);
    if (subject.layouts) {
        assigned.rows = subject.rows;
        assigned.columns = subject.columns;
    }
    nonzero_split_plan plan =
        make_nonzero_split_plan(subject.row_offsets, subject.column_indices, assigned);
    operator_layouts layouts =
        subject.layouts
            ? *subject.layouts
            : make_layouts(subject.group, std::move(assigned.rows), std::move(assigned.columns),
                           coherence::owned, subject.source.order);
    return std::make_unique<nonzero_split_operator<T>>(kind, std::move(layouts), subject.source,
                                                       std::move(plan), subject.options.format);
}

template <cutter Cut>
constexpr operator_makers split_makers = {build_split<double, Cut>, build_split<float, Cut>};

std::optional<double> split_seconds(const iteration_model& m) {
    using part = iteration_model::part;
    const cut_statistics* cut = m.statistics().cut.get();
    if (cut == nullptr) return std::nullopt;
    double products = m.row_of(cut->longest_row);
    double vectors = 0;
    double late = 0;
    bool any_cut = false;
    for (std::size_t k = 0; k < cut->parts.size(); ++k) {
        const part& d = cut->parts[k];
        const bool remote = cut->has_remote_row[k];
        any_cut = any_cut || remote;
        products = std::max(products, m.product(d));
        vectors = std::max(vectors, m.owned_vectors(d));
        // What a device has of another's row comes first, and waits for ghosts.
        const double interior =
            1 - static_cast<double>(d.boundary_rows) / std::max(1.0, static_cast<double>(d.rows));
        part received = d;
        received.ghosts += cut->partial_sums[k];
        late = std::max(late, m.late_ghosts(received, remote ? 0 : interior * m.product(d)));
    }
    return products + vectors + late + m.phases() + (any_cut ? m.phase() : 0);
}

constexpr const char* cuts_rows = "it cuts within rows what devices hold";

} // namespace

constinit const operator_method operator_rows::pcsr = {
    .name = "pcsr",
    .help = "cuts the matrix within rows, so that devices have equally many entries",
    .vectors = coherence::owned,
    .sends = sent_data::x_and_partial_sums,
    .needs_host_because = cuts_rows,
    .transposed = &operator_rows::pcsc,
    .compared = true,
    .seconds = split_seconds,
    .plan = plan_split<by_rows>,
    .build = split_makers<by_rows>,
};

constinit const operator_method operator_rows::pcsc = {
    .name = "pcsc",
    .help = "cuts it within columns, which sends few entries of x and many partial sums",
    .vectors = coherence::owned,
    .sends = sent_data::x_and_partial_sums,
    .needs_host_because = cuts_rows,
    .transposed = &operator_rows::pcsr,
    .compared = true,
    .not_predicted_because = "only a plan of all entries says how many partial sums it sends",
    .plan = plan_split<by_columns>,
    .build = split_makers<by_columns>,
};

constinit const operator_method operator_rows::pcoo = {
    .name = "pcoo",
    .help = "as pcsr, and of a coo_matrix the entries in their given order",
    .vectors = coherence::owned,
    .sends = sent_data::x_and_partial_sums,
    .needs_host_because = cuts_rows,
    .transposed = &operator_rows::pcsc,
    .compared = true,
    .not_predicted_because = "it is pcsr for a matrix by rows",
    .plan = plan_split<by_rows>,
    .build = split_makers<by_rows>,
};

} // namespace krylith
