#include <krylith/precond/amg/near_null_space.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/near_null_steps.hpp>
#include <krylith/precond/coarsening/scaling_tasks.hpp>

namespace krylith::detail {

namespace {

constexpr const char* near_null_item = "near-null vectors";

/// Rows from which on loops over them have a team of threads.
constexpr std::int64_t vectors_worth_a_team = 65536;

/// Bytes of vectors that are brought into the order of rows before they travel: memory that an
/// allocator keeps for the next time, where new pages would take longer than the work.
constexpr std::int64_t uploaded_at_once = std::int64_t{16} << 20;

/// Whether the rows of each node lie on one rank, one after the other.
bool keeps_nodes(const layout& layout, int block) {
    return !layout.order && std::ranges::all_of(layout.rows.begin, [=](std::int64_t begin) {
        return begin % block == 0;
    });
}

void check_sizes(std::int64_t rows, const amg_options& options) {
    const int block = options.block_size;
    if (block < 1 || block > aggregation::most_of_node || rows % block != 0)
        throw usage_error("amg_options::block_size is " + std::to_string(block) +
                          "; allowed are 0, for what the pattern shows, and 1 to " +
                          std::to_string(aggregation::most_of_node) +
                          " that divide the number of rows, " + std::to_string(rows));
    const auto size = static_cast<std::int64_t>(options.near_null.size());
    const std::int64_t most = rows * aggregation::most_of_node;
    if (size > most || (rows == 0 ? size != 0 : size % rows != 0))
        throw usage_error("amg_options::near_null has " + std::to_string(size) +
                          " entries; must be those of 1 to " +
                          std::to_string(aggregation::most_of_node) + " vectors of " +
                          std::to_string(rows) + " rows");
}

/// The largest magnitude of each vector.
std::vector<double> largest_magnitudes(std::span<const double> all, std::int64_t rows) {
    std::vector<double> found;
    for (std::size_t begin = 0; begin < all.size(); begin += as_size(rows)) {
        const double* const vector = all.data() + begin;
        double most = 0;
        std::int64_t bad = rows; // the first entry at fault; exceptions can't leave the loop
#pragma omp parallel for schedule(static) reduction(max                                            \
                                                    : most)                                        \
    reduction(min                                                                                  \
              : bad) if (rows > vectors_worth_a_team)
        for (std::int64_t i = 0; i < rows; ++i) {
            if (!std::isfinite(vector[i])) bad = std::min(bad, i);
            most = std::max(most, std::fabs(vector[i]));
        }
        if (bad < rows)
            throw usage_error("amg_options::near_null: entry " + std::to_string(bad) +
                              " of vector " + std::to_string(found.size()) +
                              " (counted from 0) is " + number_text(vector[bad]) +
                              "; it must be finite");
        if (most == 0)
            throw usage_error("amg_options::near_null: vector " + std::to_string(found.size()) +
                              " (counted from 0) is 0");
        found.push_back(most);
    }
    return found;
}

} // namespace

template <class W>
std::int64_t near_null_space<W>::bytes() const {
    std::size_t most = 0;
    if (values)
        for (const auto& of_rank : *values) most = std::max(most, of_rank.size() * sizeof(W));
    return static_cast<std::int64_t>(most);
}

template <class W>
near_null_space<W> make_near_null_space(const layout& layout, const amg_options& options) {
    const std::int64_t rows = layout.size();
    const int block = options.block_size;
    check_sizes(rows, options);
    near_null_space<W> result;
    if (block == 1 && options.near_null.empty()) return result;
    const bool constants = options.near_null.empty();
    const std::vector<double> largest = largest_magnitudes(options.near_null, rows);
    result.vectors = constants ? block : static_cast<int>(largest.size());
    result.block = keeps_nodes(layout, block) ? block : 1;
    const auto rows_at_once = std::max<std::int64_t>(
        1, uploaded_at_once / (result.vectors * static_cast<std::int64_t>(sizeof(W))));
    auto values = by_rank(layout.comm, [&](int rank) {
        const row_range own = layout.rows.owned(rank);
        buffer<W> there(layout.comm.handle(rank), as_size(own.size() * result.vectors),
                        near_null_item);
        std::vector<W> part;
        resize_in_parallel(part, as_size(std::min(own.size(), rows_at_once) * result.vectors));
        for (std::int64_t first = own.begin; first < own.end; first += rows_at_once) {
            const std::int64_t last = std::min(own.end, first + rows_at_once);
#pragma omp parallel for schedule(static) if (last - first > vectors_worth_a_team)
            for (std::int64_t row = first; row < last; ++row) {
                const std::int64_t of_caller = layout.row_of_caller(row);
                W* const to = part.data() + (row - first) * result.vectors;
                for (int c = 0; c < result.vectors; ++c)
                    to[c] = constants
                                ? W(of_caller % block == c ? 1 : 0)
                                : static_cast<W>(options.near_null[as_size(c * rows + of_caller)] /
                                                 largest[as_size(c)]);
            }
            layout.comm[rank].upload(there.data() + (first - own.begin) * result.vectors,
                                     part.data(),
                                     as_size((last - first) * result.vectors) * sizeof(W));
        }
        return there;
    });
    result.values = std::make_shared<const std::vector<buffer<W>>>(std::move(values));
    return result;
}

template <class W, class From>
near_null_space<W> in_precision(const communicator& comm, const near_null_space<From>& given) {
    if constexpr (std::is_same_v<W, From>) {
        return given;
    } else {
        near_null_space<W> result{given.block, given.vectors, nullptr};
        if (given.empty()) return result;
        auto values = by_rank(comm, [&](int rank) {
            const buffer<From>& from = (*given.values)[as_size(rank)];
            buffer<W> to(comm.handle(rank), from.size(), near_null_item);
            run_items(comm[rank], convert_task<W, From>{from.data(), to.data()},
                      static_cast<std::int64_t>(from.size()));
            return to;
        });
        result.values = std::make_shared<const std::vector<buffer<W>>>(std::move(values));
        return result;
    }
}

template <class W>
void scale_vectors(device& on, std::int64_t rows, int vectors, double factor, const W* v,
                   const double* scale, W* to) {
    visit_rows(on, rows, 1,
               aggregation::scale_vectors_step<W>{{}, v, scale, factor, vectors, {}, nullptr, to});
}

template <class W>
std::vector<buffer<W>> scaled_vectors(const near_null_space<W>& given, const distributed_csr<W>& b,
                                      const diagonal_scaling& by) {
    return by_rank(b.comm(), [&](int rank) {
        const buffer<W>& of_rank = (*given.values)[as_size(rank)];
        const device_csr_view<W> view = b.block(rank).view();
        buffer<W> to(b.comm().handle(rank), of_rank.size(), near_null_item);
        visit_rows(b.comm()[rank], view.rows, 1,
                   aggregation::scale_vectors_step<W>{{},
                                                      of_rank.data(),
                                                      by.owned(b, rank),
                                                      1 / by.inverse,
                                                      given.vectors,
                                                      aggregation::rows_of(b, rank),
                                                      view.values,
                                                      to.data()});
        return to;
    });
}

#define KRYLITH_INSTANTIATE(W)                                                                     \
    template struct near_null_space<W>;                                                            \
    template struct instances<make_near_null_space<W>, in_precision<W, double>,                    \
                              in_precision<W, float>, scale_vectors<W>, scaled_vectors<W>>;

#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
