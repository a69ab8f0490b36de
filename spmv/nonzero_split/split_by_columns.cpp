#include <array>
#include <utility>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/loops/download_numbers.hpp>
#include <krylith/device/loops/running_sums.hpp>
#include <krylith/distributed/products/item_tasks.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/spmv/nonzero_split/split_steps.hpp>
#include <krylith/spmv/nonzero_split/split_tasks.hpp>

namespace krylith {

namespace {

/// Divides what a rank holds of all rows into its own block and its remote one.
void divide_held(split_matrix& split, const dealt_rows& held, int rank, row_range owned,
                 std::int64_t first_held, const std::shared_ptr<device>& device) {
    const std::int64_t* const offsets = held.offsets.data();
    const auto all = static_cast<std::int64_t>(held.offsets.size()) - 1;
    const remote_row_sizes sizes{offsets, owned.begin, owned.end};
    const buffer<std::int64_t> number(device, held.offsets.size(), set_up_item);
    add_up_sizes(device, all, sizes, number.data());
    const auto numbers = download_numbers(
        *device, std::array<const std::int64_t*, 3>{number.data() + all, offsets + owned.begin,
                                                    offsets + owned.end});
    const std::int64_t remote_rows = numbers[0];
    const row_range own{numbers[1], numbers[2]};

    split_block& mine = split.own[as_size(rank)];
    mine.entries = entry_list(row_range{first_held + own.begin, first_held + own.end});
    mine.there.offsets = {device, as_size(owned.size()) + 1, set_up_item};
    run_items(
        *device,
        shift_offsets<std::int64_t>{offsets + owned.begin, -own.begin, mine.there.offsets.data()},
        owned.size() + 1);
    mine.there.columns = held.columns.data() + own.begin;

    split_block& theirs = split.remote[as_size(rank)];
    theirs.entries =
        entry_list(std::array{row_range{first_held, first_held + own.begin},
                              row_range{first_held + own.end, first_held + held.nonzeros()}});
    const buffer<std::int64_t> rows(device, as_size(remote_rows), set_up_item);
    theirs.there.offsets = {device, as_size(remote_rows) + 1, set_up_item};
    theirs.there.offsets.zero();
    run_items(*device,
              list_remote_rows{sizes, number.data(), rows.data(), theirs.there.offsets.data() + 1},
              all);
    theirs.there.uploaded = {device, as_size(theirs.entries.size()), set_up_item};
    theirs.there.columns = theirs.there.uploaded.data();
    const auto width = sizeof(std::int32_t);
    device->copy(theirs.there.uploaded.data(), held.columns.data(), as_size(own.begin) * width);
    device->copy(theirs.there.uploaded.data() + own.begin, held.columns.data() + own.end,
                 as_size(held.nonzeros() - own.end) * width);
    split.plan.local[as_size(rank)].remote_rows = rows.download();
}

} // namespace

split_matrix split_by_columns(const resident_matrix& matrix,
                              const std::optional<split_owners>& owners) {
    const communicator& comm = matrix.comm;
    const auto ranks = as_size(comm.ranks());
    std::vector<resident_csr> parts;
    for (const resident_rows& part : matrix.parts) parts.push_back(part.csr());
    column_deal deal = deal_columns(comm, matrix.rows, parts, matrix.columns);
    split_owners owned =
        owners ? *owners : split_owners{across(deal.columns, matrix.rows.rows()), deal.columns};
    split_matrix split;
    split.held = std::move(deal.held);
    column_values values{std::move(deal.given), {0}, {0}};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        values.first_given.push_back(values.first_given.back() + parts[rank].nonzeros);
        values.first_held.push_back(values.first_held.back() + split.held[rank].nonzeros());
    }
    split.own.resize(ranks);
    split.remote.resize(ranks);
    split.plan.local.resize(ranks);
    split.plan.halo.rows = owned.rows;
    std::vector<std::vector<found_entry>> found(ranks);
    on_each_rank(comm, [&](int rank) {
        const auto at = as_size(rank);
        const auto& device = comm.handle(rank);
        divide_held(split, split.held[at], rank, owned.rows.owned(rank), values.first_held[at],
                    device);
        measure_rows(device, split.own[at].there);
        measure_rows(device, split.remote[at].there);
        found[at] = find_diagonal(device, split.remote[at].there, split.plan.local[at].remote_rows);
    });
    for (std::size_t rank = 0; rank < ranks; ++rank)
        add_diagonal(split, static_cast<int>(rank), found[rank]);
    split.dealt = std::make_shared<const column_values>(std::move(values));
    number_columns(comm, std::move(owned.columns), split);
    return split;
}

} // namespace krylith
