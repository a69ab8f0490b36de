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

/// Builds operators of one matrix. The halo plan, which the cost model needs too, is made once.
template <class T>
class operator_builder {
public:
    operator_builder(const device_group& group, const matrix_source<T>& source,
                     const row_partition* rows, const operator_options& options)
        : group_(group),
          source_(source),
          rows_(rows != nullptr ? *rows : partition_rows(source.matrix.row_offsets, group.size())),
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
                make_allgather_plan(matrix.row_offsets, matrix.column_indices, rows_),
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
    /// Builds pcsr, pcsc or pcoo. The cuts between entries decide which rank owns which rows, so
    /// rows_ is not used.
    [[nodiscard]] std::unique_ptr<matrix_operator<T>> nonzero_split(operator_kind kind) const {
        const csr_view<T>& matrix = source_.matrix;
        nonzero_assignment assigned = partition_nonzeros(
            kind, matrix.row_offsets, matrix.column_indices, matrix.columns, group_.size());
        nonzero_split_plan plan =
            make_nonzero_split_plan(matrix.row_offsets, matrix.column_indices, assigned);
        const auto handle = std::make_shared<layout>(
            layout{group_, std::move(assigned.rows), coherence::owned, source_.order});
        return std::make_unique<nonzero_split_operator<T>>(kind, handle, source_, std::move(plan),
                                                           options_.format);
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
        const auto handle = spread(coherence::replicated);
        return std::make_unique<replicated_operator<T>>(
            kind, handle, source_,
            plan_blocks(kind, *handle, source_.matrix.row_offsets, source_.longest, fractions),
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
    [[nodiscard]] layout_handle spread(coherence kind) const {
        return std::make_shared<layout>(layout{group_, rows_, kind, source_.order});
    }
    [[nodiscard]] const halo_plan& plan() {
        const csr_view<T>& matrix = source_.matrix;
        if (!plan_) plan_ = make_halo_plan(matrix.row_offsets, matrix.column_indices, rows_);
        return *plan_;
    }

    const device_group& group_;
    const matrix_source<T>& source_;
    row_partition rows_;
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
build_operator(const device_group& group, const matrix_source<T>& source, const row_partition* rows,
               const operator_options& options) {
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
    operator_builder<T> builder(group, source, rows, options);
    if (options.kind == operator_kind::automatic) return builder.choose();
    return options.measure ? builder.tune(options.kind) : builder.build(options.kind);
}

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const device_group& group,
                                                  const csr_view<T>& matrix,
                                                  const operator_options& options) {
    if (matrix.rows != matrix.columns)
        throw usage_error("the matrix of a solve must be square, not " +
                          std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns));
    const longest_row longest = validate(matrix);
    if (options.order != reordering::none) return build_reordered(group, matrix, options);
    return build_operator(group, matrix_source<T>{matrix, longest}, nullptr, options);
}

template std::unique_ptr<matrix_operator<double>> build_operator(const device_group&,
                                                                 const matrix_source<double>&,
                                                                 const row_partition*,
                                                                 const operator_options&);
template std::unique_ptr<matrix_operator<float>> build_operator(const device_group&,
                                                                const matrix_source<float>&,
                                                                const row_partition*,
                                                                const operator_options&);
template std::unique_ptr<matrix_operator<double>>
make_operator(const device_group&, const csr_view<double>&, const operator_options&);
template std::unique_ptr<matrix_operator<float>>
make_operator(const device_group&, const csr_view<float>&, const operator_options&);

} // namespace krylith
