#include <krylith/distributed/source/column_deal.hpp>

#include <string>
#include <utility>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/loops/run_items.hpp>
#include <krylith/device/loops/running_sums.hpp>
#include <krylith/distributed/source/column_cuts.hpp>
#include <krylith/distributed/source/column_deal_tasks.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

using std::to_string;

void check_parts(const communicator& comm, const row_partition& rows,
                 std::span<const resident_csr> parts) {
    if (rows.ranks() != comm.ranks() || parts.size() != as_size(comm.ranks()))
        throw usage_error("deal_columns: " + to_string(rows.ranks()) + " ranges of rows and " +
                          to_string(parts.size()) + " parts on " + to_string(comm.ranks()) +
                          " devices, must be one for each");
    for (const resident_csr& part : parts)
        check_index_size("deal_columns: the number of entries of a device", part.nonzeros);
    for (const int rank : comm.local())
        if (parts[as_size(rank)].rows != rows.owned(rank).size())
            throw usage_error("deal_columns: the part of rank " + to_string(rank) + " has " +
                              to_string(parts[as_size(rank)].rows) + " rows, must have " +
                              to_string(rows.owned(rank).size()));
}

/// What a rank gives to holders: pieces one after the other, and the starts of rows in each.
struct sorted_part {
    dealt_order given;
    buffer<std::int32_t> columns;
    std::vector<buffer<std::int32_t>> starts; ///< [holders][rows + 1]
};

/// Waits for the device, for the sizes of pieces.
sorted_part sort_part(const std::shared_ptr<device>& device, const resident_csr& part,
                      const buffer<std::int64_t>& keys) {
    const std::size_t holders = keys.size() - 1;
    const std::size_t entries = as_size(part.nonzeros);
    sorted_part result{{{device, entries, matrix_item}, {0}}, {device, entries, set_up_item}, {}};
    const buffer<std::int32_t> sizes(device, holders, set_up_item);
    buffer<std::int32_t> sums[2]; // of two neighbouring cuts, by turns
    entries_before lower{nullptr, false};
    for (std::size_t h = 0; h < holders; ++h) {
        entries_before upper{nullptr, true};
        const std::int64_t* const ends = keys.data() + h;
        if (h + 1 < holders) {
            if (h < 2) sums[h] = {device, entries + 1, set_up_item};
            std::int32_t* const found = sums[h % 2].data();
            add_up_sizes(device, part.nonzeros, lies_before{part.columns, ends + 1}, found);
            upper = {found, false};
        }
        run_items(*device,
                  list_piece{part.columns, part.nonzeros, ends, lower, upper,
                             result.given.order.data(), result.columns.data()},
                  part.nonzeros);
        const auto& starts =
            result.starts.emplace_back(device, as_size(part.rows) + 1, set_up_item);
        run_items(*device,
                  start_rows{part.offsets, part.rows, part.nonzeros, lower, upper, starts.data(),
                             sizes.data() + h},
                  part.rows + 1);
        lower = upper;
    }
    for (const std::int32_t size : sizes.download())
        result.given.begin.push_back(result.given.begin.back() + size);
    return result;
}

/// Brings the pieces to those who hold them.
class piece_collector {
public:
    piece_collector(const communicator& comm, const row_partition& rows,
                    std::span<const sorted_part> parts)
        : comm_(comm), rows_(rows), parts_(parts) {}

    [[nodiscard]] std::vector<dealt_rows> collect() const {
        std::vector<dealt_rows> held;
        for (const int holder : comm_.local()) {
            std::int64_t entries = 0;
            for (const sorted_part& part : parts_) entries += part.given.piece(holder);
            const auto& on = comm_.handle(holder);
            held.push_back({{on, as_size(rows_.rows()) + 1, matrix_item},
                            {on, as_size(entries), matrix_item}});
        }
        std::vector<buffer<std::int32_t>> arrived(parts_.size() * parts_.size());
        const settled_on_failure settled(comm_); // before these are freed
        for (const int holder : comm_.local()) send_to(holder, held[as_size(holder)], arrived);
        comm_.join();
        for (const int holder : comm_.local()) place_rows(holder, held[as_size(holder)], arrived);
        return held;
    }

private:
    [[nodiscard]] std::size_t pair(int rank, int holder) const {
        return as_size(holder) * parts_.size() + as_size(rank);
    }

    /// Columns go where they stay; the starts of rows, which have half the bytes of offsets, are
    /// kept until these are made.
    void send_to(int holder, const dealt_rows& to,
                 std::vector<buffer<std::int32_t>>& arrived) const {
        std::int64_t before = 0;
        for (const int rank : comm_.local()) {
            const sorted_part& part = parts_[as_size(rank)];
            const std::int64_t entries = part.given.piece(holder);
            if (entries == 0) continue;
            comm_.copy(rank, part.columns.data() + part.given.begin[as_size(holder)], holder,
                       to.columns.data() + before, as_size(entries) * sizeof(std::int32_t));
            before += entries;
            if (rank == holder) continue;
            const auto& starts = part.starts[as_size(holder)];
            auto& there = arrived[pair(rank, holder)];
            there = {comm_.handle(holder), starts.size(), set_up_item};
            comm_.copy(rank, starts.data(), holder, there.data(),
                       starts.size() * sizeof(std::int32_t));
        }
    }

    void place_rows(int holder, const dealt_rows& to,
                    const std::vector<buffer<std::int32_t>>& arrived) const {
        std::int64_t before = 0;
        for (const int rank : comm_.local()) {
            const sorted_part& part = parts_[as_size(rank)];
            const row_range rows = rows_.owned(rank);
            const auto& starts =
                rank == holder ? part.starts[as_size(holder)] : arrived[pair(rank, holder)];
            run_items(comm_[holder],
                      offset_piece{starts.data(), before, to.offsets.data() + rows.begin},
                      rows.size() + 1); // the end of a rank is the next one's begin
            before += part.given.piece(holder);
        }
    }

    const communicator& comm_;
    const row_partition& rows_;
    std::span<const sorted_part> parts_;
};

} // namespace

column_deal deal_columns(const communicator& comm, const row_partition& rows,
                         std::span<const resident_csr> parts, std::int64_t columns) {
    check_parts(comm, rows, parts);
    column_cuts cuts = find_column_cuts(comm, parts, columns);
    std::vector<sorted_part> sorted(parts.size());
    on_each_rank(comm, [&](int rank) {
        sorted[as_size(rank)] =
            sort_part(comm.handle(rank), parts[as_size(rank)], cuts.keys[as_size(rank)]);
    });
    column_deal result{std::move(cuts.columns), piece_collector(comm, rows, sorted).collect(), {}};
    for (sorted_part& part : sorted) result.given.push_back(std::move(part.given));
    return result;
}

} // namespace krylith
