#include <krylith/spmv/nonzero_split/split_steps.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/spmv/nonzero_split/split_tasks.hpp>

namespace krylith {

std::vector<found_entry> find_diagonal(const std::shared_ptr<device>& device,
                                       const resident_rows& remote,
                                       const std::vector<std::int64_t>& rows) {
    if (remote.lengths.nonzeros == 0) return {};
    const buffer<std::int64_t> row_of(device, std::span<const std::int64_t>(rows), set_up_item);
    const buffer<std::int32_t> count(device, 1, set_up_item);
    find_diagonal_entries task{remote.offsets.data(), remote.columns,
                               row_of.data(),         static_cast<std::int64_t>(rows.size()),
                               count.data(),          nullptr};
    count.zero();
    run_items(*device, task, remote.lengths.nonzeros);
    const std::int32_t all = count.download().front();
    if (all == 0) return {};
    const buffer<std::int64_t> found(device, 2 * as_size(all), set_up_item);
    task.found = found.data();
    count.zero();
    run_items(*device, task, remote.lengths.nonzeros);
    const auto numbers = found.download();
    std::vector<found_entry> result;
    for (std::size_t k = 0; k < numbers.size(); k += 2)
        result.push_back({numbers[k], numbers[k + 1]});
    std::ranges::sort(result, {}, &found_entry::place);
    return result;
}

void add_diagonal(split_matrix& to, int rank, std::span<const found_entry> found) {
    const row_partition& rows = to.plan.halo.rows;
    to.diagonal.resize(as_size(rows.ranks()));
    for (const found_entry& entry : found) {
        const int owner = rows.owner(entry.row);
        to.diagonal[as_size(owner)].push_back(
            {static_cast<std::int32_t>(entry.row - rows.owned(owner).begin),
             to.remote[as_size(rank)].entries.number(entry.place)});
    }
}

void number_columns(const communicator& comm, row_partition columns, split_matrix& split) {
    const int ranks = comm.ranks();
    nonzero_split_plan& plan = split.plan;
    plan_partial_sums(plan);
    plan.halo.boundary.resize(as_size(ranks));
    std::vector<local_indices> local(as_size(ranks));
    on_each_rank(comm, [&](int rank) {
        const auto& device = comm.handle(rank);
        resident_rows& own = split.own[as_size(rank)].there;
        resident_rows& remote = split.remote[as_size(rank)].there;
        local[as_size(rank)] =
            number_blocks(device, columns.owned(rank), columns.rows(), std::array{&own, &remote});
        plan.halo.boundary[as_size(rank)].interior_rows = own.interior_rows;
        if (own.columns == own.uploaded.data() && !split.held.empty())
            split.held[as_size(rank)] = {}; // its local columns are its own
    });
    plan.halo.columns = {std::move(columns), std::move(local)};
}

} // namespace krylith
