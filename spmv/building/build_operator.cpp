#include <krylith/spmv/building/build_operator.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/trace/trace_range.hpp>
#include <krylith/matrix/files/tuning_file.hpp>
#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/spmv/cost_model.hpp>
#include <krylith/spmv/replicated/replicated_plan.hpp>
#include <krylith/spmv/subject/operator_subject.hpp>
#include <krylith/spmv/tuning/fraction_trial.hpp>
#include <krylith/spmv/tuning/operator_trial.hpp>

namespace krylith {

namespace {

/// Returns predictions with the rule's fraction of redundant rows.
std::vector<prediction> predictions(const pattern_statistics& statistics,
                                    const machine_rates& rates) {
    std::int64_t nonzeros = 0;
    for (const auto& part : statistics.parts) nonzeros += part.nonzeros;
    const double mean = static_cast<double>(nonzeros) /
                        static_cast<double>(std::max<std::int64_t>(1, statistics.rows()));
    const row_fractions fractions =
        usual_fractions(mean, static_cast<int>(statistics.parts.size()), true, true);
    return predict(statistics, rates, {fractions.redundant});
}

} // namespace

std::vector<operator_kind> ranked_operators(const pattern_statistics& statistics,
                                            const machine_rates& rates) {
    std::vector<operator_kind> result;
    const auto all = predictions(statistics, rates);
    for (const prediction& p : all) result.push_back(parse_operator_kind(p.name));
    const auto taken = std::ranges::find(result, parse_operator_kind(clear_choice(all).name));
    std::rotate(result.begin(), taken, taken + 1);
    return result;
}

namespace {

/// Returns the columns of each device for a matrix that is not square.
row_partition partition_columns(std::int64_t columns, int devices) {
    return equal_rows(columns, devices, row_alignment(columns, devices));
}

template <class T>
operator_subject<T> make_subject(const communicator& comm, const matrix_source<T>& source,
                                 const operator_placement& placement,
                                 const operator_options& options) {
    if (placement.layouts) {
        const operator_layouts& given = *placement.layouts;
        return {comm, source, given.range->rows, given.domain->rows, given, options};
    }
    const csr_view<T>& matrix = source.matrix;
    row_partition rows =
        placement.rows ? *placement.rows : partition_rows(matrix, comm.ranks(), options.block_size);
    row_partition columns =
        matrix.rows == matrix.columns ? rows : partition_columns(matrix.columns, comm.ranks());
    return {comm, source, std::move(rows), std::move(columns), std::nullopt, options};
}

/// Builds operators of one matrix. The halo plan, which the cost model needs too, is made once.
template <class T>
class operator_builder {
public:
    operator_builder(const communicator& comm, const matrix_source<T>& source,
                     const operator_placement& placement, const operator_options& options)
        : subject_(make_subject(comm, source, placement, options)) {}

    [[nodiscard]] std::unique_ptr<matrix_operator<T>> build(operator_kind kind) {
        if (kind->deals) read_offsets();
        if (kind->fractions.any()) {
            const auto found = tuned(kind);
            return build(kind, found ? found->best : by_rule(kind));
        }
        return build(kind, {});
    }

    /// Chooses by the model or by trial: the fastest, or halo where none is clearly faster.
    [[nodiscard]] std::unique_ptr<matrix_operator<T>> choose() {
        if (subject_.layouts || !subject_.square()) return choose_unmodelled();
        // On one device nothing moves; others are for one driver.
        if (subject_.comm.ranks() == 1 || !subject_.comm.has_one_driver())
            return build(operators::usual);
        const known_rates machine = rates_of(subject_.comm);
        const auto statistics =
            subject_.row_offsets.empty()
                ? measure_pattern(subject_.halo(), *subject_.resident, sizeof(T))
                : measure_pattern(subject_.halo(), subject_.row_offsets, subject_.column_indices,
                                  subject_.longest, sizeof(T));
        auto choice = std::make_shared<operator_choice>();
        choice->rates_from = machine.from;
        for (const prediction& p : predictions(statistics, machine.rates))
            if (is_possible(parse_operator_kind(p.name))) choice->predictions.push_back(p);
        const prediction& taken = clear_choice(choice->predictions);
        const auto best = parse_operator_kind(taken.name);
        if (best != operators::usual) subject_.drop_halo();
        std::unique_ptr<matrix_operator<T>> result;
        if (subject_.options.measure) {
            result = try_operators<T>(
                trial(), [&](operator_kind kind) { return build(kind); }, *choice);
            choice->fractions = tuned(result->kind());
            if (choice->fractions) choice->because += "; " + in_words(*choice->fractions);
        } else {
            result = build(best);
            choice->because = in_words(choice->predictions) + " an iteration by the cost model";
            if (taken.name != choice->predictions.front().name)
                choice->because += ", none clearly faster than " + taken.name;
        }
        result->explain(std::move(choice));
        return result;
    }

    /// Builds an operator with fractions that a trial chooses.
    [[nodiscard]] std::unique_ptr<matrix_operator<T>> tune(operator_kind kind) {
        if (subject_.comm.ranks() == 1) return build(kind); // nothing moves
        subject_.comm.require_one_driver("operator_options::measure");
        auto choice = std::make_shared<operator_choice>();
        auto result = try_fractions<T>(
            fractions_key(trial(), kind, subject_.options, sizeof(T)), by_rule(kind),
            open_fractions(kind, subject_.options),
            [&](const row_fractions& fractions) { return build(kind, fractions); }, *choice);
        result->explain(std::move(choice));
        return result;
    }

private:
    /// Whether an operator can be made of what is given.
    [[nodiscard]] bool is_possible(operator_kind kind) const {
        if (subject_.source.parts.empty()) return true;
        return kind->needs_host_because.empty() && !(kind->deals && subject_.source.borrow);
    }
    void read_offsets() {
        subject_.read_offsets();
        subject_.source.matrix.row_offsets = subject_.row_offsets;
    }
    /// Chooses where the cost model, which is of an iteration with a square matrix, can't say:
    /// halo, or nz for replicated vectors, unless a trial finds another clearly faster.
    [[nodiscard]] std::unique_ptr<matrix_operator<T>> choose_unmodelled() {
        std::vector<operator_kind> candidates = {operators::usual};
        for (const operator_kind kind : operators::all) // one for each way of sending
            if (kind->listed && kind != operators::usual) candidates.push_back(kind);
        if (subject_.layouts)
            std::erase_if(candidates, [&](operator_kind kind) {
                return kind->vectors != subject_.layouts->range->kind;
            });
        if (!subject_.comm.has_one_driver())
            std::erase_if(candidates, [](operator_kind kind) { return kind->one_process.get(); });
        if (candidates.empty())
            subject_.comm.require_one_driver("an operator between these layouts");
        if (subject_.comm.ranks() == 1) return build(candidates.front()); // nothing moves
        auto choice = std::make_shared<operator_choice>();
        std::unique_ptr<matrix_operator<T>> result;
        if (subject_.options.measure) {
            for (const operator_kind kind : candidates)
                choice->predictions.push_back({to_string(kind), subject_.comm.ranks(), 0});
            result = try_operators<T>(
                trial(), [&](operator_kind kind) { return build(kind); }, *choice);
            choice->predictions.clear(); // they were all the same
        } else {
            result = build(candidates.front());
            choice->because = subject_.layouts
                                  ? "the usual one for the vectors that are given"
                                  : "the usual one for a matrix that is not square, which the "
                                    "cost model doesn't know";
        }
        result->explain(std::move(choice));
        return result;
    }
    [[nodiscard]] std::unique_ptr<matrix_operator<T>> build(operator_kind kind,
                                                            const row_fractions& fractions) {
        if (kind->one_process)
            subject_.comm.require_one_driver(std::string("operator ") + to_string(kind));
        operator_options options = subject_.options;
        options.kind = kind;
        check_replication(subject_.comm, options);
        subject_.fractions = fractions;
        return kind->build.get().template of<T>()(kind, subject_);
    }
    [[nodiscard]] row_fractions by_rule(operator_kind kind) const {
        return fractions_by_rule(kind, subject_.comm, subject_.row_offsets, subject_.options);
    }
    /// Returns the fractions that an earlier trial kept. auto:measured uses them; it doesn't tune
    /// inside its own trial.
    [[nodiscard]] std::optional<fraction_choice> tuned(operator_kind kind) {
        if (!subject_.options.measure || subject_.comm.ranks() == 1 || !kind->fractions.any())
            return std::nullopt;
        return recall_fractions(fractions_key(trial(), kind, subject_.options, sizeof(T)),
                                by_rule(kind));
    }
    [[nodiscard]] trial_subject trial() {
        if (!hash_) hash_ = pattern_hash(subject_.row_offsets, subject_.column_indices);
        return {subject_.comm, *hash_};
    }

    operator_subject<T> subject_;
    std::optional<std::uint64_t> hash_;
};

void check_measure(const operator_options& options) {
    if (!options.measure || !options.kind) return;
    const std::string asked =
        std::string("operator_options::measure is true with operator ") + to_string(options.kind);
    if (!options.kind->fractions.any())
        throw usage_error(asked + ": only auto, " + operators_with_fractions() +
                          " have something to measure");
    const free_fractions open = open_fractions(options.kind, options);
    if (!open.long_rows && !open.redundant)
        throw usage_error(asked +
                          ", but no fraction is left to measure: allowed is -1 for one that " +
                          "a trial may choose");
}

void check_place(operator_kind kind, bool on_devices, bool borrow) {
    if (!on_devices || !kind) return;
    const std::string asked = std::string("operator ") + to_string(kind);
    if (!kind->needs_host_because.empty())
        throw usage_error(asked + " needs the matrix in host memory, since " +
                          std::string(kind->needs_host_because) + "; allowed are " +
                          listed<operator_method>(operators::all, [](operator_kind other) {
                              return other->needs_host_because.empty();
                          }));
    if (kind->deals && borrow)
        throw usage_error(asked +
                          " can't borrow values, since its devices have entries of other "
                          "devices' rows; allowed are operator_options::borrow = false, "
                          "and operators " +
                          listed<operator_method>(operators::all, [](operator_kind other) {
                              return other->needs_host_because.empty() && !other->deals;
                          }));
}

} // namespace

template <class T>
std::unique_ptr<matrix_operator<T>>
build_operator(const communicator& comm, const matrix_source<T>& source,
               const operator_placement& placement, const operator_options& options) {
    const trace_range range("set up an operator");
    check_place(options.kind, !source.parts.empty(), source.borrow);
    check_replication(comm, options);
    check_measure(options);
    if (options.transposed_products && !source.parts.empty())
        throw usage_error("operator_options::transposed_products needs the matrix in host memory, "
                          "where it is transposed; allowed for rows that lie on the devices is "
                          "false");
    operator_builder<T> builder(comm, source, placement, options);
    auto result = !options.kind     ? builder.choose()
                  : options.measure ? builder.tune(options.kind)
                                    : builder.build(options.kind);
    result->kept().longest_row = source.longest.nonzeros;
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<matrix_operator<T>> build_operator(                                   \
        const communicator&, const matrix_source<T>&, const operator_placement&,                   \
        const operator_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
