#include <krylith/spmv/matrix_operator.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/nearest_name.hpp>
#include <krylith/spmv/cost_model.hpp>
#include <krylith/spmv/halo_operator.hpp>
#include <krylith/spmv/matrix_source.hpp>
#include <krylith/spmv/operator_trial.hpp>
#include <krylith/spmv/reordered_matrix.hpp>
#include <krylith/spmv/replicated_operator.hpp>
#include <krylith/spmv/replicated_plan.hpp>
#include <krylith/spmv/share_trial.hpp>
#include <krylith/spmv/tuning_file.hpp>

namespace krylith {

namespace {

constexpr std::array<std::string_view, 7> operator_names = {"auto",   "nz",   "2nz",   "lra",
                                                            "lra-rc", "halo", "gather"};
constexpr std::array<std::string_view, 5> local_names = {"auto", "csr", "sell", "merge", "vendor"};
constexpr std::array<std::string_view, 4> transfer_names = {"auto", "stores", "copies", "nccl"};
constexpr std::array<std::string_view, 3> order_names = {"none", "rcm", "metis"};

template <class Kind, std::size_t N>
Kind parse(std::string_view name, const std::array<std::string_view, N>& names,
           const char* option) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        std::string message = std::string("unknown ") + option + " '" + std::string(name) +
                              "': did you mean '" + nearest_name(name, names) + "'? Valid are";
        for (const auto valid : names) message.append(" ").append(valid);
        throw usage_error(message);
    }
    return static_cast<Kind>(found - names.begin());
}

} // namespace

const char* to_string(operator_kind kind) noexcept {
    return operator_names[static_cast<std::size_t>(kind)].data();
}

const char* to_string(local_kind kind) noexcept {
    return local_names[static_cast<std::size_t>(kind)].data();
}

const char* to_string(reordering order) noexcept {
    return order_names[static_cast<std::size_t>(order)].data();
}

const char* to_string(transfer_kind kind) noexcept {
    return transfer_names[static_cast<std::size_t>(kind)].data();
}

operator_kind parse_operator_kind(std::string_view name) {
    return parse<operator_kind>(name, operator_names, "operator");
}

local_kind parse_local_kind(std::string_view name) {
    return parse<local_kind>(name, local_names, "local kernel");
}

reordering parse_reordering(std::string_view name) {
    return parse<reordering>(name, order_names, "order");
}

transfer_kind parse_transfer_kind(std::string_view name) {
    return parse<transfer_kind>(name, transfer_names, "transfer");
}

template <class T>
matrix_operator<T>::matrix_operator(operator_kind kind, layout_handle where,
                                    const matrix_source<T>& source)
    : kind_(kind), layout_(std::move(where)) {
    for (const std::int64_t row : layout_->rows.begin)
        first_nonzero_.push_back(source.matrix.row_offsets[static_cast<std::size_t>(row)]);
}

template <class T>
void matrix_operator<T>::check_product(const vector<T>& x, const vector<T>& y,
                                       std::span<const reduction_into<T>> dots) const {
    if (x.share_layout() != layout_ || y.share_layout() != layout_)
        throw usage_error("the vectors of a product must be made by its operator");
    if (&x == &y) throw usage_error("x and y of a product must differ");
    if (dots.size() > max_spmv_dots)
        throw usage_error("a product computes at most " + std::to_string(max_spmv_dots) +
                          " dot products on the way");
    for (const auto& d : dots)
        if (d.a != &y && d.b != &y)
            throw usage_error("a dot product of a product must have its result as a factor");
}

template <class T>
void matrix_operator<T>::open(execution& run, const vector<T>& x, const vector<T>& y,
                              std::span<const reduction_into<T>> dots) const {
    check_product(x, y, dots);
    std::vector<std::uint8_t> sums;
    for (const auto& d : dots) sums.push_back(d.number);
    run.open({});
    run.publish(sums);
}

template <class T>
spmv_arguments<T> matrix_operator<T>::arguments(execution& run, int rank, T alpha,
                                                const vector<T>& x, T beta, vector<T>& y,
                                                std::span<const reduction_into<T>> dots,
                                                std::int64_t first) const {
    const auto owned = [&](const vector<T>& v) { return v.data(rank) + first; };
    spmv_arguments<T> a{};
    a.common = run.at(rank);
    a.x = x.data(rank);
    a.y = owned(y);
    a.alpha = alpha;
    a.beta = beta;
    for (std::size_t d = 0; d < dots.size(); ++d) {
        const vector<T>* other = dots[d].a == &y ? dots[d].b : dots[d].a;
        a.dot_with[d] = other == &y ? nullptr : owned(*other);
    }
    a.reduce = run.partials(rank);
    return a;
}

template <class T>
void matrix_operator<T>::update(std::span<const T> values) {
    if (first_nonzero_.empty()) throw usage_error("update: a matrix-free operator has no values");
    std::int64_t wanted = 0;
    const auto ranks = static_cast<std::size_t>(layout_->group.size());
    for (std::size_t rank = 0; rank < ranks; ++rank) wanted += update_size(rank);
    if (static_cast<std::int64_t>(values.size()) != wanted)
        throw usage_error("update: " + std::to_string(values.size()) + " values, must be " +
                          std::to_string(wanted));
    std::vector<T> moved;
    if (!entry_source_.empty()) {
        moved.reserve(values.size());
        for (const std::int64_t k : entry_source_)
            moved.push_back(values[static_cast<std::size_t>(k)]);
        values = moved;
    }
    if (gathers_.empty()) return distribute(values);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const auto mine = values.first(static_cast<std::size_t>(update_size(rank)));
        values = values.subspan(mine.size());
        if (mine.empty()) continue;
        const buffer<T> uploaded(layout_->group.share(static_cast<int>(rank)), mine, "update");
        take(rank, uploaded.data());
    }
}

template <class T>
void matrix_operator<T>::distribute(std::span<const T> values) {
    for (std::size_t rank = 0; rank < blocks_.size(); ++rank) {
        blocks_[rank]->update(values.first(static_cast<std::size_t>(update_size(rank))));
        values = values.subspan(static_cast<std::size_t>(update_size(rank)));
    }
}

template <class T>
void matrix_operator<T>::update_on_devices(std::span<const T* const> values) {
    if (first_nonzero_.empty()) throw usage_error("update: a matrix-free operator has no values");
    if (layout_->order)
        throw usage_error(
            std::string("update_on_devices: the rows are reordered (") +
            to_string(reordered_.order) +
            "), so they aren't those of the caller's ranks; allowed are update() from "
            "the host, and an operator with order none");
    check_device_update();
    if (values.size() != blocks_.size())
        throw usage_error("update_on_devices: " + std::to_string(values.size()) + " arrays for " +
                          std::to_string(blocks_.size()) + " devices");
    for (std::size_t rank = 0; rank < blocks_.size(); ++rank) {
        if (update_size(rank) == 0) continue;
        const device& where = layout_->group[static_cast<int>(rank)];
        const std::string problem =
            values[rank] == nullptr ? "null" : where.lies_elsewhere(values[rank]);
        if (!problem.empty())
            throw usage_error("update_on_devices: the array of rank " + std::to_string(rank) +
                              " is " + problem + ", allowed is memory of " + where.description());
    }
    for (std::size_t rank = 0; rank < blocks_.size(); ++rank)
        if (update_size(rank) != 0) take(rank, values[rank]);
}

template <class T>
void matrix_operator<T>::take(std::size_t rank, const T* values) {
    if (!gathers_.empty()) {
        gathers_[rank](values);
        values = gathers_[rank].values();
    }
    if (first_nonzero_[rank] != first_nonzero_[rank + 1]) blocks_[rank]->update_on_device(values);
}

template <class T>
void matrix_operator<T>::check_diagonal(const vector<T>& d) const {
    if (d.share_layout() != layout_)
        throw usage_error("the vector of a diagonal must be made by its operator");
}

template <class T>
void matrix_operator<T>::diagonal(vector<T>& d) const {
    check_diagonal(d);
    for (int rank = 0; rank < layout_->group.size(); ++rank)
        blocks_[static_cast<std::size_t>(rank)]->diagonal(d.data(rank), {});
}

template <class T>
transfer_kind matrix_operator<T>::transfer() const {
    const device_group& group = layout_->group;
    for (int from = 0; from < group.size(); ++from)
        for (int to = 0; to < group.size(); ++to)
            if (group.path(from, to) == transport::staged) return transfer_kind::copies;
    return transfer_kind::stores;
}

namespace {

/// Below this many rows a device, boundaries are where the nonzeros say; above, on whole warps.
constexpr std::int64_t align_above = 4096;

} // namespace

std::int64_t row_alignment(std::int64_t rows, int devices) {
    return rows / devices > align_above ? 32 : 1;
}

row_partition deal_rows(std::span<const std::int64_t> row_offsets, int devices) {
    const auto rows = static_cast<std::int64_t>(row_offsets.size()) - 1;
    return equal_nonzeros(row_offsets, devices, row_alignment(rows, devices));
}

namespace {

/// With the rule's share of redundant rows.
std::vector<prediction> predictions(const pattern_statistics& statistics,
                                    const machine_rates& rates) {
    std::int64_t nonzeros = 0;
    for (const auto& part : statistics.parts) nonzeros += part.nonzeros;
    const double mean = static_cast<double>(nonzeros) /
                        static_cast<double>(std::max<std::int64_t>(1, statistics.rows()));
    const row_shares shares =
        usual_shares(mean, static_cast<int>(statistics.parts.size()), true, true);
    return predict(statistics, rates, {shares.redundant});
}

} // namespace

std::vector<operator_kind> ranked_operators(const pattern_statistics& statistics,
                                            const machine_rates& rates) {
    std::vector<operator_kind> result;
    for (const prediction& p : predictions(statistics, rates))
        result.push_back(parse_operator_kind(p.name));
    return result;
}

namespace {

/// Builds operators of one matrix; the halo plan, which the cost model needs too, once.
template <class T>
class operator_builder {
public:
    operator_builder(const device_group& group, const matrix_source<T>& source,
                     const row_partition* rows, const operator_options& options)
        : group_(group),
          source_(source),
          rows_(rows != nullptr ? *rows : deal_rows(source.matrix.row_offsets, group.size())),
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
                                                      options_.local);
        case operator_kind::gather:
            return std::make_unique<halo_operator<T>>(
                spread(coherence::owned), source_,
                make_gather_plan(matrix.row_offsets, matrix.column_indices, rows_), options_.local);
        case operator_kind::automatic: break;
        }
        throw usage_error("build: operator auto is not one that can be built");
    }

    /// The fastest by the model, or by trial.
    [[nodiscard]] std::unique_ptr<matrix_operator<T>> choose() {
        if (group_.size() == 1) return build(operator_kind::halo); // nothing moves
        const auto& matrix = source_.matrix;
        const known_rates machine = rates_of(group_);
        const auto statistics = measure_pattern(plan(), matrix.row_offsets, sizeof(T));
        auto choice = std::make_shared<operator_choice>();
        choice->rates_from = machine.from;
        for (const prediction& p : predictions(statistics, machine.rates)) {
            const operator_kind kind = parse_operator_kind(p.name);
            const bool elsewhere = is_replicated(kind) && kind != operator_kind::nz;
            if (source_.parts.empty() || !elsewhere) choice->predictions.push_back(p);
        }
        const auto best = parse_operator_kind(choice->predictions.front().name);
        if (best != operator_kind::halo) plan_.reset(); // may be larger than the matrix
        std::unique_ptr<matrix_operator<T>> result;
        if (options_.measure) {
            result = try_operators<T>(
                subject(), [&](operator_kind kind) { return build(kind); }, *choice);
            choice->shares = tuned(result->kind());
            if (choice->shares) choice->because += "; " + in_words(*choice->shares);
        } else {
            result = build(best);
            choice->because = in_words(choice->predictions) + " an iteration by the cost model";
        }
        result->explain(std::move(choice));
        return result;
    }

    /// lra or lra-rc, with shares by trial.
    [[nodiscard]] std::unique_ptr<matrix_operator<T>> tune(operator_kind kind) {
        if (group_.size() == 1) return build(kind); // nothing moves
        auto choice = std::make_shared<operator_choice>();
        auto result = try_shares<T>(
            shares_key(subject(), kind, options_, sizeof(T)), by_rule(kind),
            open_shares(kind, options_),
            [&](const row_shares& shares) { return replicated(kind, shares); }, *choice);
        result->explain(std::move(choice));
        return result;
    }

private:
    [[nodiscard]] std::unique_ptr<matrix_operator<T>> replicated(operator_kind kind) {
        const auto found = tuned(kind);
        return replicated(kind, found ? found->best : by_rule(kind));
    }
    [[nodiscard]] std::unique_ptr<matrix_operator<T>> replicated(operator_kind kind,
                                                                 const row_shares& shares) const {
        operator_options options = options_;
        options.kind = kind;
        check_replication(group_, options, !source_.parts.empty());
        const auto where = spread(coherence::replicated);
        return std::make_unique<replicated_operator<T>>(
            kind, where, source_, plan_blocks(kind, *where, source_.matrix.row_offsets, shares),
            choose_transfer(group_, options.transfer,
                            kind == operator_kind::lra_rc && rounds_by_block(options.local)),
            options.local);
    }
    [[nodiscard]] row_shares by_rule(operator_kind kind) const {
        return shares_by_rule(kind, group_, source_.matrix.row_offsets, options_);
    }
    /// What auto:measured takes if it is there; it doesn't tune inside its own trial.
    [[nodiscard]] std::optional<share_choice> tuned(operator_kind kind) {
        if (!options_.measure || group_.size() == 1) return std::nullopt;
        if (kind != operator_kind::lra && kind != operator_kind::lra_rc) return std::nullopt;
        return recall_shares(shares_key(subject(), kind, options_, sizeof(T)), by_rule(kind));
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
    const free_shares open = open_shares(options.kind, options);
    if (!open.long_rows && !open.redundant)
        throw usage_error(asked + ", but no share is left to measure: allowed is -1 for one that " +
                          "a trial may choose");
}

} // namespace

template <class T>
std::unique_ptr<matrix_operator<T>>
build_operator(const device_group& group, const matrix_source<T>& source, const row_partition* rows,
               const operator_options& options) {
    check_replication(group, options, !source.parts.empty());
    check_measure(options);
    if (options.transfer != transfer_kind::automatic && !is_replicated(options.kind))
        throw usage_error(std::string("transfer ") + to_string(options.transfer) +
                          " is for operators nz, 2nz, lra and lra-rc; " + to_string(options.kind) +
                          ", which was asked for, needs transfer auto");
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
    validate(matrix);
    if (options.order != reordering::none) return build_reordered(group, matrix, options);
    return build_operator(group, matrix_source<T>{matrix}, nullptr, options);
}

template class matrix_operator<double>;
template class matrix_operator<float>;
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
