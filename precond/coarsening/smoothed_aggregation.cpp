#include <krylith/precond/coarsening/smoothed_aggregation.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/distributed/products/numbered_columns.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/grid_boxes.hpp>
#include <krylith/precond/coarsening/node_aggregation.hpp>
#include <krylith/precond/coarsening/node_rows.hpp>
#include <krylith/precond/coarsening/prolongation_rows.hpp>

namespace krylith {

namespace {

template <class T>
void check_aggregation(const distributed_csr<T>& a, const aggregation_options& options) {
    if (a.row_owners() != a.column_owners())
        throw usage_error("smoothed_aggregation: the matrix has " + std::to_string(a.rows()) +
                          " rows and " + std::to_string(a.columns()) +
                          " columns; both must have the same owners");
    if (!(options.theta >= 0 && options.theta < 1))
        throw usage_error("aggregation_options::theta is " + std::to_string(options.theta) +
                          "; allowed are 0 to 1, without 1");
    for (const auto& [name, value] :
         {std::pair("block_size", options.block_size), std::pair("vectors", options.vectors)})
        if (value < 1 || value > aggregation::most_of_node)
            throw usage_error("aggregation_options::" + std::string(name) + " is " +
                              std::to_string(value) + "; allowed are 1 to " +
                              std::to_string(aggregation::most_of_node));
    for (const std::int64_t begin : a.row_owners().begin)
        if (begin % options.block_size != 0)
            throw usage_error("smoothed_aggregation: rows of a rank begin or end at " +
                              std::to_string(begin) + ", inside a node of " +
                              std::to_string(options.block_size) + " rows");
}

} // namespace

template <class T>
struct smoothed_aggregation<T>::state {
    aggregation_options options;
    communicator comm;
    exchange ghosts;
    aggregation::rank_parts<T> parts;
    row_partition fine;
    row_partition coarse;
    std::optional<aggregation::grid_boxes> boxes; ///< that aggregates are
    std::vector<std::int64_t> nonzeros;           ///< of each rank
    double bound = 1;                             ///< of the eigenvalues of D_F^-1 A_F
    bool directed = false;                        ///< nearly all rows have a direction
    bool keeps_near_null = false;                 ///< A_F v = A v, for the near-null vector
    /// What makes all else of nodes and several vectors; null for rows and one vector.
    std::unique_ptr<aggregation::node_aggregation<T>> of_nodes;

    [[nodiscard]] double lambda() const {
        return options.known_bound > 0 ? std::min(bound, options.known_bound) : bound;
    }

    /// Throws unless the matrix has the shape of that of the constructor.
    void check_again(const distributed_csr<T>& a, std::span<const T* const> near_null) const {
        bool same = a.row_owners() == fine;
        for (const int rank : comm.local())
            same = same && a.block(rank).nonzeros() == nonzeros[as_size(rank)];
        if (!same)
            throw usage_error("smoothed_aggregation: the matrix has " +
                              std::to_string(a.nonzeros()) +
                              " nonzeros, or other owners of rows than that of the constructor");
        if (near_null.size() != as_size(comm.ranks()))
            throw usage_error("smoothed_aggregation: there are " +
                              std::to_string(near_null.size()) + " arrays of near_null for " +
                              std::to_string(comm.ranks()) + " ranks");
    }

    [[nodiscard]] aggregation::prolongation_rows<T>
    rows(const distributed_csr<T>& a, const buffer<T>& tentative, int rank, bool smooth) const {
        const auto& part = parts[as_size(rank)];
        return {aggregation::rows_of(a, part, rank),
                a.block(rank).view().values,
                part.filtered.data(),
                part.aggregate.data(),
                tentative.data(),
                static_cast<T>(4 / (3 * lambda())),
                smooth,
                aggregation::mean_entries(a, rank)};
    }

    [[nodiscard]] distributed_csr<T> make(const distributed_csr<T>& a,
                                          std::span<const T* const> near_null, bool smooth) {
        check_again(a, near_null);
        const auto tentative = aggregation::make_tentative(a, ghosts, parts, coarse, near_null);
        std::vector<device_csr<T>> blocks(as_size(comm.ranks()));
        std::vector<local_columns> columns(as_size(comm.ranks()));
        on_each_rank(comm, [&](int rank) {
            make_block(rows(a, tentative[as_size(rank)], rank, smooth), rank, blocks[as_size(rank)],
                       columns[as_size(rank)]);
        });
        return {comm, fine, coarse, std::move(blocks), std::move(columns)};
    }

    void fill(const distributed_csr<T>& a, std::span<const T* const> near_null,
              distributed_csr<T>& p, bool smooth) {
        check_again(a, near_null);
        const auto tentative = aggregation::make_tentative(a, ghosts, parts, coarse, near_null);
        for (const int rank : comm.local())
            aggregation::refresh_prolongation(
                comm[rank], rows(a, tentative[as_size(rank)], rank, smooth), coarse.rows(),
                p.block(rank).view().offsets, p.block(rank).values());
    }

    /// Makes the block of P on a rank.
    void make_block(const aggregation::prolongation_rows<T>& p, int rank, device_csr<T>& block,
                    local_columns& columns_of) const {
        const auto& device = comm.handle(rank);
        aggregation::prolongation_arrays<T> made =
            aggregation::make_prolongation(device, p, coarse.rows());
        columns_of =
            comm.ranks() == 1
                ? local_columns(device, coarse.owned(rank), {})
                : number_columns(device, coarse.owned(rank), coarse.rows(), made.columns).value();
        block = {device, columns_of.count(), std::move(made.offsets), std::move(made.columns),
                 std::move(made.values)};
        block.set_ascending(true);
    }
};

template <class T>
smoothed_aggregation<T>::smoothed_aggregation(const distributed_csr<T>& a,
                                              const aggregation_options& options,
                                              std::span<const T* const> near_null) {
    check_aggregation(a, options);
    state_.reset(new state{.options = options,
                           .comm = a.comm(),
                           .ghosts = exchange_of_ghosts(a),
                           .parts = {},
                           .fine = a.row_owners(),
                           .coarse = {},
                           .boxes = {},
                           .nonzeros = {},
                           .of_nodes = nullptr});
    state_->nonzeros = by_rank(a.comm(), [&](int rank) { return a.block(rank).nonzeros(); });
    if (options.block_size != 1 || options.vectors != 1) {
        state_->of_nodes = std::make_unique<aggregation::node_aggregation<T>>(a, options);
        return;
    }
    std::vector<buffer<std::uint8_t>> states;
    aggregation::strength_rule rule{options.theta};
    state_->keeps_near_null = !near_null.empty();
    if (state_->keeps_near_null) rule.large = aggregation::large_in_row_from;
    rule.directions = options.directions && options.theta > 0; // with 0 all entries are strong
    const auto facts =
        aggregation::find_strength(a, rule, state_->ghosts, near_null, state_->parts, states);
    state_->bound = facts.bound;
    state_->directed = rule.directions && 10 * facts.undirected <= a.rows();
    if (options.boxes) state_->boxes = aggregation::find_boxes(a, state_->parts);
    if (state_->boxes) {
        state_->coarse = aggregation::take_boxes(a, *state_->boxes, state_->parts);
        return;
    }
    state_->coarse =
        aggregation::find_aggregates(a, state_->ghosts, state_->parts, std::move(states),
                                     options.aggressive && !state_->directed);
}

template <class T>
smoothed_aggregation<T>::smoothed_aggregation(smoothed_aggregation&&) noexcept = default;
template <class T>
smoothed_aggregation<T>&
smoothed_aggregation<T>::operator=(smoothed_aggregation&&) noexcept = default;
template <class T>
smoothed_aggregation<T>::~smoothed_aggregation() = default;

template <class T>
const row_partition& smoothed_aggregation<T>::coarse() const noexcept {
    return state_->of_nodes ? state_->of_nodes->coarse() : state_->coarse;
}

template <class T>
bool smoothed_aggregation<T>::directed() const noexcept {
    return state_->directed;
}

template <class T>
std::string smoothed_aggregation<T>::in_words() const {
    if (state_->boxes) return aggregation::in_words(*state_->boxes);
    if (state_->of_nodes) return "aggregates of nodes";
    return state_->options.aggressive && !state_->directed ? "aggregates in pairs" : "aggregates";
}

template <class T>
distributed_csr<T> smoothed_aggregation<T>::prolongation(const distributed_csr<T>& a,
                                                         std::span<const T* const> near_null) {
    if (state_->of_nodes) {
        state_->check_again(a, near_null);
        return state_->of_nodes->prolongation(a, near_null);
    }
    return state_->make(a, near_null, state_->options.smooth);
}

template <class T>
distributed_csr<T> smoothed_aggregation<T>::tentative(const distributed_csr<T>& a,
                                                      std::span<const T* const> near_null) {
    return state_->make(a, near_null, false);
}

template <class T>
void smoothed_aggregation<T>::know_bound(double bound) {
    state_->options.known_bound = bound;
    if (state_->of_nodes) state_->of_nodes->know_bound(bound);
}

template <class T>
void smoothed_aggregation<T>::filter(const distributed_csr<T>& a,
                                     std::span<const T* const> near_null) {
    state_->bound = aggregation::filter_again(a, state_->ghosts, near_null, state_->parts);
}

template <class T>
void smoothed_aggregation<T>::refresh(const distributed_csr<T>& a,
                                      std::span<const T* const> near_null, distributed_csr<T>& p) {
    state_->check_again(a, near_null);
    if (state_->of_nodes) return state_->of_nodes->refresh(a, near_null, p);
    filter(a, state_->keeps_near_null ? near_null : std::span<const T* const>());
    state_->fill(a, near_null, p, state_->options.smooth);
}

template <class T>
void smoothed_aggregation<T>::refresh_tentative(const distributed_csr<T>& a,
                                                std::span<const T* const> near_null,
                                                distributed_csr<T>& p) {
    state_->fill(a, near_null, p, false);
}

template <class T>
const T* smoothed_aggregation<T>::coarse_near_null(int rank) const noexcept {
    if (state_->of_nodes) return state_->of_nodes->coarse_near_null(rank);
    return state_->parts[as_size(rank)].coarse.data() + state_->coarse.begin[as_size(rank)];
}

template <class T>
const aggregation::grid_boxes* smoothed_aggregation<T>::boxes() const noexcept {
    const bool known = state_->boxes && state_->boxes->have_product() && state_->options.smooth;
    return known ? &*state_->boxes : nullptr;
}

template <class T>
void smoothed_aggregation<T>::fill_dropped(distributed_csr<T>& coarse) const {
    if (state_->of_nodes) state_->of_nodes->fill_dropped(coarse);
}

template <class T>
std::int64_t smoothed_aggregation<T>::bytes() const noexcept {
    if (state_->of_nodes) return state_->of_nodes->bytes();
    std::size_t most = 0;
    for (const auto& part : state_->parts)
        most = std::max(most, part.couplings.size() + part.aggregate.size() * sizeof(std::int32_t) +
                                  (part.filtered.size() + part.coarse.size()) * sizeof(T));
    return static_cast<std::int64_t>(most);
}

#define KRYLITH_INSTANTIATE(T) template class smoothed_aggregation<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
