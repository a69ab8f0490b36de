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
#include <krylith/spmv/nz_operator.hpp>
#include <krylith/spmv/operator_trial.hpp>
#include <krylith/spmv/tuning_file.hpp>
#include <krylith/spmv/reordered_matrix.hpp>

namespace krylith {

namespace {

constexpr std::array<std::string_view, 4> operator_names = {"auto", "nz", "halo", "gather"};
constexpr std::array<std::string_view, 4> local_names = {"auto", "csr", "sell", "vendor"};
constexpr std::array<std::string_view, 2> order_names = {"none", "rcm"};

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

operator_kind parse_operator_kind(std::string_view name) {
    return parse<operator_kind>(name, operator_names, "operator");
}

local_kind parse_local_kind(std::string_view name) {
    return parse<local_kind>(name, local_names, "local kernel");
}

reordering parse_reordering(std::string_view name) {
    return parse<reordering>(name, order_names, "order");
}

template <class T>
matrix_operator<T>::matrix_operator(operator_kind kind, layout_handle where,
                                    const matrix_source<T>& source)
    : kind_(kind), layout_(std::move(where)) {
    for (const std::int64_t row : layout_->rows.begin)
        first_nonzero_.push_back(source.matrix.row_offsets[static_cast<std::size_t>(row)]);
}

template <class T>
void matrix_operator<T>::open(execution& run, const vector<T>& x, const vector<T>& y,
                              std::span<const reduction_into<T>> dots) const {
    if (x.share_layout() != layout_ || y.share_layout() != layout_)
        throw usage_error("the vectors of a product must be made by its operator");
    if (&x == &y) throw usage_error("x and y of a product must differ");
    if (dots.size() > max_spmv_dots)
        throw usage_error("a product computes at most " + std::to_string(max_spmv_dots) +
                          " dot products on the way");
    std::vector<std::uint8_t> sums;
    for (const auto& d : dots) {
        if (d.a != &y && d.b != &y)
            throw usage_error("a dot product of a product must have its result as a factor");
        sums.push_back(d.number);
    }
    run.open({});
    run.publish(sums);
}

template <class T>
spmv_arguments<T> matrix_operator<T>::arguments(execution& run, int rank, T alpha,
                                                const vector<T>& x, T beta, vector<T>& y,
                                                std::span<const reduction_into<T>> dots) const {
    const auto owned = [&](const vector<T>& v) {
        return v.data(rank) + layout_->first_owned(rank);
    };
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
    for (std::size_t rank = 0; rank < blocks_.size(); ++rank) wanted += update_size(rank);
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
    for (std::size_t rank = 0; rank < blocks_.size(); ++rank) {
        const auto mine = values.first(static_cast<std::size_t>(update_size(rank)));
        values = values.subspan(mine.size());
        if (gathers_.empty()) {
            blocks_[rank]->update(mine);
        } else if (!mine.empty()) {
            const buffer<T> uploaded(layout_->group.share(static_cast<int>(rank)), mine, "update");
            take(rank, uploaded.data());
        }
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
void matrix_operator<T>::diagonal(vector<T>& d) const {
    if (d.share_layout() != layout_)
        throw usage_error("the vector of a diagonal must be made by its operator");
    const device_group& group = layout_->group;
    for (int rank = 0; rank < group.size(); ++rank)
        blocks_[static_cast<std::size_t>(rank)]->diagonal(d.data(rank) + layout_->first_owned(rank),
                                                          layout_->first_owned(rank));
    if (layout_->kind == coherence::owned || group.size() == 1) return;
    group.join(); // who used the other copies is done
    for (int from = 0; from < group.size(); ++from) {
        const row_range own = layout_->rows.owned(from);
        for (int to = 0; to < group.size(); ++to)
            if (to != from && own.size() != 0)
                group.copy(from, d.data(from) + own.begin, to, d.data(to) + own.begin,
                           static_cast<std::size_t>(own.size()) * sizeof(T));
    }
    group.join();
}

namespace {

/// Below this many rows a device, boundaries are where the nonzeros say; above, on whole warps.
constexpr std::int64_t align_above = 4096;

} // namespace

row_partition deal_rows(std::span<const std::int64_t> row_offsets, int devices) {
    const auto rows = static_cast<std::int64_t>(row_offsets.size()) - 1;
    return equal_nonzeros(row_offsets, devices, rows / devices > align_above ? 32 : 1);
}

std::vector<operator_kind> ranked_operators(const pattern_statistics& statistics,
                                            const machine_rates& rates) {
    std::vector<operator_kind> result;
    for (const prediction& p : predict(statistics, rates))
        if (std::ranges::find(operator_names, p.name) != operator_names.end())
            result.push_back(parse_operator_kind(p.name));
    return result;
}

namespace {

/// Builds operators of one matrix; the halo plan, which the cost model needs too, once.
template <class T>
class operator_builder {
public:
    operator_builder(const device_group& group, const matrix_source<T>& source,
                     const row_partition* rows, local_kind local)
        : group_(group),
          source_(source),
          rows_(rows != nullptr ? *rows : deal_rows(source.matrix.row_offsets, group.size())),
          local_(local) {}

    [[nodiscard]] std::unique_ptr<matrix_operator<T>> build(operator_kind kind) {
        const csr_view<T>& matrix = source_.matrix;
        switch (kind) {
        case operator_kind::nz:
            return std::make_unique<nz_operator<T>>(spread(coherence::replicated), source_, local_);
        case operator_kind::halo:
            return std::make_unique<halo_operator<T>>(spread(coherence::owned), source_, plan(),
                                                      local_);
        case operator_kind::gather:
            return std::make_unique<halo_operator<T>>(
                spread(coherence::owned), source_,
                make_gather_plan(matrix.row_offsets, matrix.column_indices, rows_), local_);
        case operator_kind::automatic: break;
        }
        throw usage_error("build: operator auto is not one that can be built");
    }

    /// The fastest by the model, or by trial.
    [[nodiscard]] std::unique_ptr<matrix_operator<T>> choose(bool measure) {
        if (group_.size() == 1) return build(operator_kind::halo); // nothing moves
        const auto& matrix = source_.matrix;
        const known_rates machine = rates_of(group_);
        const auto statistics = measure_pattern(plan(), matrix.row_offsets, sizeof(T));
        const auto kinds = ranked_operators(statistics, machine.rates);
        auto choice = std::make_shared<operator_choice>();
        choice->rates_from = machine.from;
        for (const prediction& p : predict(statistics, machine.rates))
            if (std::ranges::find(operator_names, p.name) != operator_names.end())
                choice->predictions.push_back(p);
        if (kinds.front() != operator_kind::halo) plan_.reset(); // may be larger than the matrix
        std::unique_ptr<matrix_operator<T>> result;
        if (measure) {
            result = try_operators<T>(
                {group_, pattern_hash(matrix.row_offsets, matrix.column_indices)},
                [&](operator_kind kind) { return build(kind); }, *choice);
        } else {
            result = build(kinds.front());
            choice->because = in_words(choice->predictions) + " an iteration by the cost model";
        }
        result->explain(std::move(choice));
        return result;
    }

private:
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
    local_kind local_;
    std::optional<halo_plan> plan_;
};

} // namespace

template <class T>
std::unique_ptr<matrix_operator<T>>
build_operator(const device_group& group, const matrix_source<T>& source, const row_partition* rows,
               const operator_options& options) {
    if (options.measure && options.kind != operator_kind::automatic)
        throw usage_error(std::string("operator_options::measure is true with operator ") +
                          to_string(options.kind) + ": only auto has a choice to measure");
    operator_builder<T> builder(group, source, rows, options.local);
    return options.kind == operator_kind::automatic ? builder.choose(options.measure)
                                                    : builder.build(options.kind);
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
