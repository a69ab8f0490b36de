#include <krylith/precond/colouring/row_colours.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/distributed/products/column_exchange.hpp>
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
    std::vector<buffer<unsigned long long>> sums;
    for (const int rank : a.comm().local()) {
        sums.emplace_back(a.comm().handle(rank), as_size(colouring::mirror_counters), colours_item);
        sums.back().zero();
        visit_rows(a.comm()[rank], a.block(rank).rows(), aggregation::mean_entries(a, rank),
                   colouring::mirror_sum_step{aggregation::rows_of(a, rank), sums.back().data()});
    }
    unsigned long long all = 0;
    for (const auto& sum : sums)
        for (const unsigned long long part : sum.download()) all += part;
    return all == 0;
}

/// Colours the rows of a matrix with a symmetric pattern; returns the colours of its local columns,
/// of which ghosts are right too, and the number of colours.
template <class T>
std::pair<std::vector<buffer<std::int32_t>>, int> colours_of(const distributed_csr<T>& a) {
    const communicator& comm = a.comm();
    std::vector<buffer<std::int32_t>> colours;
    std::vector<buffer<std::int32_t>> least;
    std::vector<buffer<std::uint32_t>> counts;
    std::vector<row_list> lists;
    for (const int rank : comm.local()) {
        const auto& device = comm.handle(rank);
        const std::int64_t columns = a.columns_of(rank).count();
        colours.emplace_back(device, as_size(columns), colours_item);
        visit_rows(*device, columns, 1, colouring::uncolour_step{{}, colours.back().data()});
        least.emplace_back(device, as_size(a.block(rank).rows()), colours_item);
        least.back().zero();
        counts.emplace_back(device, 1, colours_item);
        counts.back().zero();
        lists.emplace_back(device, a.block(rank).rows());
    }
    const column_exchange exchange(comm, a.all_columns());
    const auto left = [&] {
        std::int64_t sum = 0;
        for (const auto& list : lists) sum += list.size();
        return sum;
    };
    // A grid needs about a dozen rounds; the host looks only now and then whether they were enough.
    for (int rounds = 8; left() != 0; rounds = 4)
        for (int i = 0; i < rounds; ++i) {
            for (const int rank : comm.local()) {
                const std::size_t r = as_size(rank);
                visit_list(comm[rank], lists[r], aggregation::mean_entries(a, rank),
                           colouring::colour_step{aggregation::rows_of(a, rank), colours[r].data(),
                                                  least[r].data(), counts[r].data()});
            }
            aggregation::fill_ghosts(exchange, colours);
        }
    std::uint32_t most = 0;
    for (const auto& count : counts) most = std::max(most, count.download().front());
    return {std::move(colours), static_cast<int>(most)};
}

/// The same colours on the local columns of another matrix.
template <class T>
std::vector<buffer<std::int32_t>> on_columns_of(const distributed_csr<T>& a,
                                                std::span<const local_columns> columns,
                                                const std::vector<buffer<std::int32_t>>& colours) {
    std::vector<buffer<std::int32_t>> result;
    for (const int rank : a.comm().local()) {
        const local_columns& mine = a.columns_of(rank);
        result.emplace_back(a.comm().handle(rank), as_size(mine.count()), colours_item);
        if (mine.owned().size() != 0)
            a.comm()[rank].copy(result.back().data() + mine.first_owned(),
                                colours[as_size(rank)].data() +
                                    columns[as_size(rank)].first_owned(),
                                as_size(mine.owned().size()) * sizeof(std::int32_t));
    }
    aggregation::fill_ghosts(column_exchange(a.comm(), a.all_columns()), result);
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
    for (const int rank : comm.local()) {
        const auto& device = comm.handle(rank);
        const std::int64_t count = rows.owned(rank).size();
        order_.emplace_back(device, as_size(count), colours_item);
        const buffer<std::int64_t> begin(device, as_size(count_) + 1, colours_item);
        list_colours(device, count, colours_[at(rank)].data() + columns[at(rank)].first_owned(),
                     count_, begin.data(), order_.back().data());
        begin_.push_back(begin.download());
    }
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
