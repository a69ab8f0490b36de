#include <krylith/precond/colouring/row_colours.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/distributed/products/exchange_of_ghosts.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/mirrored_matrix.hpp>
#include <krylith/precond/colouring/colour_steps.hpp>

namespace krylith {

namespace {

constexpr const char* colours_item = "colours of rows";

/// Waits for the devices.
template <class T>
bool has_symmetric_pattern(const distributed_csr<T>& a) {
    const communicator& comm = a.comm();
    const auto sums = by_rank(comm, [&](int rank) {
        buffer<unsigned long long> mine(comm.handle(rank), as_size(colouring::mirror_counters),
                                        colours_item);
        mine.zero();
        visit_rows(comm[rank], a.block(rank).rows(), aggregation::mean_entries(a, rank),
                   colouring::mirror_sum_step{aggregation::rows_of(a, rank), mine.data()});
        return mine;
    });
    auto of_ranks = by_rank(comm, [&](int rank) {
        const std::vector<unsigned long long> parts = sums[as_size(rank)].download();
        return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
    });
    comm.all_gather(of_ranks);
    return std::accumulate(of_ranks.begin(), of_ranks.end(), std::uint64_t{0}) == 0;
}

/// Colours the rows of a matrix with a symmetric pattern; returns the colours of its local columns,
/// of which ghosts are right too, and the number of colours.
template <class T>
std::pair<std::vector<buffer<std::int32_t>>, int> colours_of(const distributed_csr<T>& a) {
    const communicator& comm = a.comm();
    struct rank_state {
        buffer<std::int32_t> least;
        buffer<std::uint32_t> count;
        std::optional<row_list> list;
    };
    std::vector<buffer<std::int32_t>> colours(as_size(comm.ranks()));
    auto states = by_rank(comm, [&](int rank) {
        const auto& device = comm.handle(rank);
        const std::int64_t columns = a.columns_of(rank).count();
        buffer<std::int32_t>& mine = colours[as_size(rank)];
        mine = {device, as_size(columns), colours_item};
        visit_rows(*device, columns, 1, colouring::uncolour_step{{}, mine.data()});
        rank_state state{
            {device, as_size(a.block(rank).rows()), colours_item}, {device, 1, colours_item}, {}};
        state.least.zero();
        state.count.zero();
        state.list.emplace(device, a.block(rank).rows());
        return state;
    });
    const exchange ghosts = exchange_of_ghosts(a);
    const auto any_left = [&] {
        bool here = false;
        for (const int rank : comm.local()) here = states[as_size(rank)].list->size() != 0 || here;
        return comm.any(here);
    };
    // A grid needs about a dozen rounds; the host looks only now and then whether they were enough.
    for (int rounds = 8; any_left(); rounds = 4)
        for (int i = 0; i < rounds; ++i) {
            for (const int rank : comm.local()) {
                rank_state& state = states[as_size(rank)];
                visit_list(comm[rank], *state.list, aggregation::mean_entries(a, rank),
                           colouring::colour_step{aggregation::rows_of(a, rank),
                                                  colours[as_size(rank)].data(), state.least.data(),
                                                  state.count.data()});
            }
            ghosts.fetch(colours);
        }
    auto counts =
        by_rank(comm, [&](int rank) { return states[as_size(rank)].count.download().front(); });
    comm.all_gather(counts);
    return {std::move(colours), static_cast<int>(std::ranges::max(counts))};
}

/// The same colours on the local columns of another matrix.
template <class T>
std::vector<buffer<std::int32_t>> on_columns_of(const distributed_csr<T>& a,
                                                std::span<const local_columns> columns,
                                                const std::vector<buffer<std::int32_t>>& colours) {
    auto result = by_rank(a.comm(), [&](int rank) {
        const local_columns& mine = a.columns_of(rank);
        buffer<std::int32_t> moved(a.comm().handle(rank), as_size(mine.count()), colours_item);
        if (mine.owned().size() != 0)
            a.comm()[rank].copy(moved.data() + mine.first_owned(),
                                colours[as_size(rank)].data() +
                                    columns[as_size(rank)].first_owned(),
                                as_size(mine.owned().size()) * sizeof(std::int32_t));
        return moved;
    });
    exchange_of_ghosts(a).fetch(result);
    return result;
}

/// Enqueues the rows of each colour, as cuda::list_colours() does.
void list_colours(const std::shared_ptr<device>& on, std::int64_t rows, const std::int32_t* colour,
                  std::int32_t count, std::int64_t* begin, std::int32_t* order) {
#if KRYLITH_HAVE_CUDA
    if (on->kind() == backend::cuda)
        return colouring::cuda::list_colours(on, rows, colour, count, begin, order);
#endif
    static_cast<host_device&>(*on).submit([=] {
        std::fill_n(begin, count + 1, std::int64_t{0});
        for (std::int64_t i = 0; i < rows; ++i) ++begin[colour[i] + 1];
        for (std::int32_t c = 0; c < count; ++c) begin[c + 1] += begin[c];
        std::vector<std::int64_t> next(begin, begin + count);
        for (std::int64_t i = 0; i < rows; ++i)
            order[next[static_cast<std::size_t>(colour[i])]++] = static_cast<std::int32_t>(i);
    });
}

} // namespace

void row_colours::list_rows(const communicator& comm, const row_partition& rows,
                            std::span<const local_columns> columns) {
    order_.resize(at(comm.ranks()));
    begin_ = by_rank(comm, [&](int rank) {
        const auto& device = comm.handle(rank);
        const std::int64_t count = rows.owned(rank).size();
        order_[at(rank)] = {device, as_size(count), colours_item};
        const buffer<std::int64_t> begin(device, as_size(count_) + 1, colours_item);
        list_colours(device, count, colours_[at(rank)].data() + columns[at(rank)].first_owned(),
                     count_, begin.data(), order_[at(rank)].data());
        return begin.download();
    });
}

template <class T>
row_colours colour_rows(const distributed_csr<T>& a) {
    if (a.row_owners() != a.column_owners())
        throw usage_error("colour_rows: rows and columns of the matrix have different owners");
    row_colours result;
    if (has_symmetric_pattern(a)) {
        std::tie(result.colours_, result.count_) = colours_of(a);
    } else {
        const aggregation::mirrored_matrix<T> mirrored(a);
        auto [colours, count] = colours_of(mirrored.matrix());
        result.colours_ = on_columns_of(a, mirrored.matrix().all_columns(), colours);
        result.count_ = count;
    }
    result.list_rows(a.comm(), a.row_owners(), a.all_columns());
    return result;
}

#define KRYLITH_INSTANTIATE(T) template row_colours colour_rows(const distributed_csr<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
