#include <krylith/spmv/building/build_operator.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/tuning_file.hpp>
#include <krylith/spmv/building/reordered_matrix.hpp>
#include <krylith/spmv/cost_model.hpp>
#include <krylith/spmv/halo/halo_operator.hpp>
#include <krylith/spmv/nonzero_split/nonzero_split_operator.hpp>
#include <krylith/spmv/replicated/replicated_operator.hpp>
#include <krylith/spmv/replicated/replicated_plan.hpp>
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

template <class T>
bool square(const matrix_source<T>& source) {
    return source.matrix.rows == source.matrix.columns;
}

/// Returns the columns of each device for a matrix that is not square.
row_partition partition_columns(std::int64_t columns, int devices) {
    return equal_rows(columns, devices, row_alignment(columns, devices));
}

/// Builds operators of one matrix. The halo plan, which the cost model needs too, is made once.
template <class T>
class operator_builder {
public:
    operator_builder(const device_group& group, const matrix_source<T>& source,
                     const operator_placement& placement, const operator_options& options)
        : group_(group),
          source_(source),
          layouts_(placement.layouts),
          rows_(layouts_         ? layouts_->range->rows
                : placement.rows ? *placement.rows
                                 : partition_rows(source.matrix.row_offsets, group.size())),
          columns_(layouts_         ? layouts_->domain->rows
                   : square(source) ? rows_
                                    : partition_columns(source.matrix.columns, group.size())),
          options_(options) {}

    [[nodiscard]] std::unique_ptr<matrix_operator<T>> build(operator_kind kind) {
        const csr_view<T>& matrix = source_.matrix;
        switch (kind) {
        case operator_kind::nz:
        case operator_kind::two_nz:
        case operator_kind::lra:
        case operator_kind::lra_rc: return replicated(kind);
        case operator_kind::halo:
            return std::make_unique<halo_operator<T>>(spread(coherence::owned), source_, plan(),
                                                      options_.format);
        case operator_kind::adaptive:
            return std::make_unique<halo_operator<T>>(spread(coherence::owned), source_, plan(),
                                                      options_.format, kind);
        case operator_kind::allgather:
            return std::make_unique<halo_operator<T>>(
                spread(coherence::owned), source_,
                make_allgather_plan(matrix.row_offsets, matrix.column_indices, rows_, columns_),
                options_.format);
        case operator_kind::pcsr:
        case operator_kind::pcsc:
        case operator_kind::pcoo: return nonzero_split(kind);
        case operator_kind::automatic: break;
        }
        throw usage_error("build: operator auto is not one that can be built");
    }

    /// Chooses by the model or by trial: the fastest, or halo where none is clearly faster.
    [[nodiscard]] std::unique_ptr<matrix_operator<T>> choose() {
        if (layouts_ || !square(source_)) return choose_unmodelled();
        if (group_.size() == 1) return build(operator_kind::halo); // nothing moves
        const known_rates machine = rates_of(group_);
        const auto statistics =
            measure_pattern(plan(), source_.matrix.row_offsets, source_.matrix.column_indices,
                            source_.longest, sizeof(T));
        auto choice = std::make_shared<operator_choice>();
        choice->rates_from = machine.from;
        for (const prediction& p : predictions(statistics, machine.rates)) {
            const operator_kind kind = parse_operator_kind(p.name);
            const bool elsewhere = is_replicated(kind) && kind != operator_kind::nz;
            if (source_.parts.empty() || !elsewhere) choice->predictions.push_back(p);
        }
        const prediction& taken = clear_choice(choice->predictions);
        const auto best = parse_operator_kind(taken.name);
        if (best != operator_kind::halo) plan_.reset(); // it may be larger than the matrix
        std::unique_ptr<matrix_operator<T>> result;
        if (options_.measure) {
            result = try_operators<T>(
                subject(), [&](operator_kind kind) { return build(kind); }, *choice);
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

    /// Builds lra or lra-rc with fractions that a trial chooses.
    [[nodiscard]] std::unique_ptr<matrix_operator<T>> tune(operator_kind kind) {
        if (group_.size() == 1) return build(kind); // nothing moves
        auto choice = std::make_shared<operator_choice>();
        auto result = try_fractions<T>(
            fractions_key(subject(), kind, options_, sizeof(T)), by_rule(kind),
            open_fractions(kind, options_),
            [&](const row_fractions& fractions) { return replicated(kind, fractions); }, *choice);
        result->explain(std::move(choice));
        return result;
    }

private:
    /// Chooses where the cost model, which is of an iteration with a square matrix, can't say:
    /// halo, or nz for replicated vectors, unless a trial finds another clearly faster.
    [[nodiscard]] std::unique_ptr<matrix_operator<T>> choose_unmodelled() {
        std::vector<operator_kind> candidates = {operator_kind::halo, operator_kind::allgather,
                                                 operator_kind::nz};
        std::erase_if(candidates, [&](operator_kind kind) { return !fits(kind); });
        if (group_.size() == 1) return build(candidates.front()); // nothing moves
        auto choice = std::make_shared<operator_choice>();
        std::unique_ptr<matrix_operator<T>> result;
        if (options_.measure) {
            for (const operator_kind kind : candidates)
                choice->predictions.push_back({to_string(kind), group_.size(), 0});
            result = try_operators<T>(
                subject(), [&](operator_kind kind) { return build(kind); }, *choice);
            choice->predictions.clear(); // they were all the same
        } else {
            result = build(candidates.front());
            choice->because =
                std::string("the cost model is of an iteration with a square matrix, ") +
                "for its own vectors; " + to_string(candidates.front()) + " is the usual one";
        }
        result->explain(std::move(choice));
        return result;
    }
    /// Whether the operator's vectors are as the given layouts say.
    [[nodiscard]] bool fits(operator_kind kind) const {
        return !layouts_ || is_replicated(kind) == (layouts_->range->kind == coherence::replicated);
    }

    /// Builds pcsr, pcsc or pcoo. The cuts between entries decide which rank owns which rows and
    /// columns, unless layouts are given.
    [[nodiscard]] std::unique_ptr<matrix_operator<T>> nonzero_split(operator_kind kind) const {
        const csr_view<T>& matrix = source_.matrix;
        nonzero_assignment assigned = partition_nonzeros(
            kind, matrix.row_offsets, matrix.column_indices, matrix.columns, group_.size());
        if (layouts_) {
            assigned.rows = rows_;
            assigned.columns = columns_;
        }
        nonzero_split_plan plan =
            make_nonzero_split_plan(matrix.row_offsets, matrix.column_indices, assigned);
        operator_layouts layouts =
            layouts_ ? *layouts_
                     : make_layouts(group_, std::move(assigned.rows), std::move(assigned.columns),
                                    coherence::owned, source_.order);
        return std::make_unique<nonzero_split_operator<T>>(kind, std::move(layouts), source_,
                                                           std::move(plan), options_.format);
    }
    [[nodiscard]] std::unique_ptr<matrix_operator<T>> replicated(operator_kind kind) {
        const auto found = tuned(kind);
        return replicated(kind, found ? found->best : by_rule(kind));
    }
    [[nodiscard]] std::unique_ptr<matrix_operator<T>>
    replicated(operator_kind kind, const row_fractions& fractions) const {
        operator_options options = options_;
        options.kind = kind;
        check_replication(group_, options, !source_.parts.empty());
        const operator_layouts layouts = spread(coherence::replicated);
        return std::make_unique<replicated_operator<T>>(
            kind, layouts, source_,
            plan_blocks(kind, *layouts.range, source_.matrix.row_offsets, source_.longest,
                        fractions),
            choose_transport(group_, options.transport,
                             kind == operator_kind::lra_rc && rounds_by_block(options.format)),
            options.format);
    }
    [[nodiscard]] row_fractions by_rule(operator_kind kind) const {
        return fractions_by_rule(kind, group_, source_.matrix.row_offsets, options_);
    }
    /// Returns the fractions that an earlier trial kept. auto:measured uses them; it doesn't tune
    /// inside its own trial.
    [[nodiscard]] std::optional<fraction_choice> tuned(operator_kind kind) {
        if (!options_.measure || group_.size() == 1) return std::nullopt;
        if (kind != operator_kind::lra && kind != operator_kind::lra_rc) return std::nullopt;
        return recall_fractions(fractions_key(subject(), kind, options_, sizeof(T)), by_rule(kind));
    }
    [[nodiscard]] trial_subject subject() {
        const csr_view<T>& matrix = source_.matrix;
        if (!hash_) hash_ = pattern_hash(matrix.row_offsets, matrix.column_indices);
        return {group_, *hash_};
    }
    [[nodiscard]] operator_layouts spread(coherence kind) const {
        return layouts_ ? *layouts_ : make_layouts(group_, rows_, columns_, kind, source_.order);
    }
    [[nodiscard]] const halo_plan& plan() {
        const csr_view<T>& matrix = source_.matrix;
        if (!plan_)
            plan_ = make_halo_plan(matrix.row_offsets, matrix.column_indices, rows_, columns_);
        return *plan_;
    }

    const device_group& group_;
    const matrix_source<T>& source_;
    const std::optional<operator_layouts>& layouts_;
    row_partition rows_;
    row_partition columns_;
    const operator_options& options_;
    std::optional<halo_plan> plan_;
    std::optional<std::uint64_t> hash_;
};

void check_measure(const operator_options& options) {
    if (!options.measure || options.kind == operator_kind::automatic) return;
    const std::string asked =
        std::string("operator_options::measure is true with operator ") + to_string(options.kind);
    if (options.kind != operator_kind::lra && options.kind != operator_kind::lra_rc)
        throw usage_error(asked + ": only auto, lra and lra-rc have something to measure");
    const free_fractions open = open_fractions(options.kind, options);
    if (!open.long_rows && !open.redundant)
        throw usage_error(asked +
                          ", but no fraction is left to measure: allowed is -1 for one that " +
                          "a trial may choose");
}

} // namespace

template <class T>
std::unique_ptr<matrix_operator<T>>
build_operator(const device_group& group, const matrix_source<T>& source,
               const operator_placement& placement, const operator_options& options) {
    check_replication(group, options, !source.parts.empty());
    check_measure(options);
    if (is_nonzero_split(options.kind) && !source.parts.empty())
        throw usage_error(
            std::string("operator ") + to_string(options.kind) +
            " needs the matrix in host memory, since it cuts within rows what devices "
            "hold; allowed are nz, halo and allgather");
    if (options.kind == operator_kind::adaptive && !source.parts.empty())
        throw usage_error("operator adaptive needs the matrix in host memory, since it keeps it by "
                          "columns too; allowed are nz, halo and allgather");
    if (options.transport != transport_kind::automatic && !is_replicated(options.kind))
        throw usage_error(std::string("transport ") + to_string(options.transport) +
                          " is for operators nz, 2nz, lra and lra-rc; " + to_string(options.kind) +
                          ", which was asked for, needs transport auto");
    if (options.transposed_products && !source.parts.empty())
        throw usage_error("operator_options::transposed_products needs the matrix in host memory, "
                          "where it is transposed; allowed for rows that lie on the devices is "
                          "false");
    operator_builder<T> builder(group, source, placement, options);
    if (options.kind == operator_kind::automatic) return builder.choose();
    return options.measure ? builder.tune(options.kind) : builder.build(options.kind);
}

template std::unique_ptr<matrix_operator<double>> build_operator(const device_group&,
                                                                 const matrix_source<double>&,
                                                                 const operator_placement&,
                                                                 const operator_options&);
template std::unique_ptr<matrix_operator<float>> build_operator(const device_group&,
                                                                const matrix_source<float>&,
                                                                const operator_placement&,
                                                                const operator_options&);

} // namespace krylith
