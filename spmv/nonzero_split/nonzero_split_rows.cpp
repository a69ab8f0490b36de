// pcsr, pcsc and pcoo are one operator with two ways to cut between entries.
#include <algorithm>
#include <utility>

#include <krylith/partition/pcsr.hpp>
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
/// theirs, which a row partition can't say.
nonzero_partition cut(const operator_pattern& p) {
    return equal_entries(p.row_offsets.back(), p.comm.ranks());
}

template <cutter Cut>
void plan_split(operator_kind /*kind*/, operator_pattern& p) {
    (void)make_nonzero_split_plan(p.row_offsets, p.column_indices, Cut(p, cut(p)));
}

/// Who owns rows and columns: the cuts between entries decide it, unless layouts are given or the
/// rows lie on the devices.
template <class T>
operator_layouts layouts_of(const operator_subject<T>& subject, row_partition rows,
                            row_partition columns) {
    if (subject.layouts) return *subject.layouts;
    return make_layouts(subject.comm, std::move(rows), std::move(columns), coherence::owned,
                        subject.source.order);
}

template <class T>
bool has_owners(const operator_subject<T>& subject) {
    return subject.layouts || !subject.source.parts.empty();
}

template <class T, cutter Cut>
std::unique_ptr<matrix_operator<T>> build_split(operator_kind kind, operator_subject<T>& subject) {
    nonzero_assignment assigned = Cut(subject, cut(subject));
    if (has_owners(subject)) {
        assigned.rows = subject.rows;
        assigned.columns = subject.columns;
    }
    split_matrix split = split_on_host(subject.row_offsets, subject.column_indices, assigned);
    return std::make_unique<nonzero_split_operator<T>>(
        kind, layouts_of(subject, std::move(assigned.rows), std::move(assigned.columns)),
        subject.source, std::move(split), subject.options.format);
}

/// Builds an operator whose devices have ranges of the entries by rows.
template <class T>
std::unique_ptr<matrix_operator<T>> build_by_rows(operator_kind kind,
                                                  operator_subject<T>& subject) {
    if (!makes_operators_there(subject.comm)) return build_split<T, by_rows>(kind, subject);
    const nonzero_partition entries = cut(subject);
    row_partition rows = subject.rows;
    row_partition columns = subject.columns;
    if (!has_owners(subject)) {
        rows = make_pcsr(subject.row_offsets, entries).owned();
        columns = across(rows, columns.rows());
    }
    split_matrix split = split_by_ranges(subject.comm, subject.source, entries, rows, columns);
    return std::make_unique<nonzero_split_operator<T>>(
        kind, layouts_of(subject, std::move(rows), std::move(columns)), subject.source,
        std::move(split), subject.options.format);
}

/// Builds the operator whose devices have ranges of the entries by columns.
template <class T>
std::unique_ptr<matrix_operator<T>> build_by_columns(operator_kind kind,
                                                     operator_subject<T>& subject) {
    if (!makes_operators_there(subject.comm)) return build_split<T, by_columns>(kind, subject);
    std::shared_ptr<const resident_matrix> pattern = subject.resident;
    if (!pattern) pattern = upload_pattern(subject.comm, subject.source.matrix, subject.rows);
    std::optional<split_owners> owners;
    if (has_owners(subject)) owners = {subject.rows, subject.columns};
    split_matrix split = split_by_columns(*pattern, owners);
    operator_layouts layouts =
        layouts_of(subject, split.plan.halo.rows, split.plan.halo.columns.owners());
    return std::make_unique<nonzero_split_operator<T>>(kind, std::move(layouts), subject.source,
                                                       std::move(split), subject.options.format);
}

constexpr operator_makers by_rows_makers = {build_by_rows<double>, build_by_rows<float>};

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

} // namespace

constinit const operator_method operator_rows::pcsr = {
    .name = "pcsr",
    .help = "cuts the matrix within rows, so that devices have equally many entries",
    .vectors = coherence::owned,
    .sends = sent_data::x_and_partial_sums,
    .deals = true,
    .transposed = &operator_rows::pcsc,
    .one_process = true,
    .compared = true,
    .seconds = split_seconds,
    .plan = plan_split<by_rows>,
    .build = by_rows_makers,
};

constinit const operator_method operator_rows::pcsc = {
    .name = "pcsc",
    .help = "cuts it within columns, which sends few entries of x and many partial sums",
    .vectors = coherence::owned,
    .sends = sent_data::x_and_partial_sums,
    .deals = true,
    .transposed = &operator_rows::pcsr,
    .one_process = true,
    .compared = true,
    .not_predicted_because = "only a plan of all entries says how many partial sums it sends",
    .plan = plan_split<by_columns>,
    .build = operator_makers{build_by_columns<double>, build_by_columns<float>},
};

constinit const operator_method operator_rows::pcoo = {
    .name = "pcoo",
    .help = "as pcsr, and of a coo_matrix the entries in their given order",
    .vectors = coherence::owned,
    .sends = sent_data::x_and_partial_sums,
    .deals = true,
    .transposed = &operator_rows::pcsc,
    .one_process = true,
    .compared = true,
    .not_predicted_because = "it is pcsr for a matrix by rows",
    .plan = plan_split<by_rows>,
    .build = by_rows_makers,
};

} // namespace krylith
