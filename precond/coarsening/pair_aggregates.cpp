#include <cstdint>
#include <utility>
#include <vector>

#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/loops/running_sums.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregate_couplings.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/join_steps.hpp>
#include <krylith/precond/coarsening/pair_steps.hpp>
#include <krylith/precond/coarsening/sections.hpp>

namespace krylith::aggregation {

namespace {

/// The arrays of all ranks while pairs are found. Partners and choices of all aggregates lie on
/// every rank.
template <class T>
class pair_finder {
public:
    pair_finder(const distributed_csr<T>& a, const rank_parts<T>& parts,
                const row_partition& aggregates)
        : a_(a),
          parts_(parts),
          owners_(aggregates),
          sections_(
              a.comm(), aggregates,
              std::vector<row_range>(as_size(a.comm().ranks()), row_range{0, aggregates.rows()})) {
        for (const int rank : a.comm().local()) {
            const auto& device = a.comm().handle(rank);
            const std::size_t own = as_size(owners_.owned(rank).size());
            const std::size_t all = as_size(owners_.rows());
            rows_.push_back(rows_of(a, parts[as_size(rank)], rank));
            numbers_.emplace_back(device, own * 2 * coupling_table::places, memory_item);
            crowded_.emplace_back(device, own, memory_item);
            partners_.emplace_back(device, all, memory_item);
            choices_.emplace_back(device, all, memory_item);
            found_.emplace_back(device, most_rounds, memory_item);
            lists_.emplace_back(device, static_cast<std::int64_t>(own));
            numbers_.back().zero();
            crowded_.back().zero();
        }
    }

    void add_up_couplings() {
        for (std::size_t r = 0; r < rows_.size(); ++r)
            if (device_of(r).kind() == backend::host)
                add_up_on_host(r);
            else
                visit_rows(device_of(r), rows_[r].rows, mean_entries(a_, static_cast<int>(r)),
                           couple_step{rows_[r], aggregate(r), table(r)});
        if (rows_.size() > 1) send_couplings();
    }

    void find_pairs() {
        for (std::size_t r = 0; r < rows_.size(); ++r)
            visit_rows(device_of(r), table(r).count, 1,
                       begin_pairs_step{{}, table(r), partners_[r].data(), choices_[r].data()});
        gather(partners_);
        // Each round finds partners for about half of those that are free.
        for (bool more = owners_.rows() != 0; more;) {
            for (const auto& found : found_) found.zero();
            for (std::size_t round = 0; round < most_rounds; ++round) run(round);
            std::int32_t last = 0;
            device_of(0).download(&last, found_[0].data() + most_rounds - 1, sizeof last);
            more = last != 0;
        }
    }

    /// Numbers the pairs; number[rank] is that of each aggregate.
    [[nodiscard]] row_partition number_pairs(std::vector<buffer<std::int32_t>>& number) {
        const std::int64_t all = owners_.rows();
        std::vector<buffer<std::int32_t>> before;
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            const auto& device = a_.comm().handle(static_cast<int>(r));
            before.emplace_back(device, as_size(all + 1), memory_item);
            add_up_sizes(device, all, leads_pair{partners_[r].data()}, before[r].data());
            visit_rows(
                *device, all, 1,
                number_pairs_step{{}, partners_[r].data(), before[r].data(), number[r].data()});
        }
        row_partition pairs;
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            std::int32_t end = 0;
            device_of(r).download(&end, before[r].data() + owners_.begin[r + 1], sizeof end);
            pairs.begin.push_back(end);
        }
        return pairs;
    }

private:
    static constexpr std::size_t most_rounds = 6; ///< between two looks of the host

    [[nodiscard]] coupling_table table(std::size_t r) const {
        const row_range own = owners_.owned(static_cast<int>(r));
        return {static_cast<std::int32_t>(own.begin), static_cast<std::int32_t>(own.size()),
                numbers_[r].data(), crowded_[r].data()};
    }
    [[nodiscard]] const std::int32_t* aggregate(std::size_t r) const {
        return parts_[r].aggregate.data();
    }
    [[nodiscard]] device& device_of(std::size_t r) const { return a_.comm()[static_cast<int>(r)]; }

    void add_up_on_host(std::size_t r) {
        host::in_parts(device_of(r), rows_[r].rows,
                       [rows = rows_[r], aggregate = aggregate(r), table = table(r),
                        all = owners_.rows()](int part, int parts) {
                           const std::int64_t count = table.count;
                           const auto border = [&](std::int64_t at) {
                               return table.first + static_cast<std::int32_t>(count * at / parts);
                           };
                           krylith::aggregation::add_up_couplings(
                               rows, aggregate, table, border(part), border(part + 1), all);
                       });
    }

    void gather(const std::vector<buffer<std::int32_t>>& arrays) {
        const auto all = pointers_of(arrays);
        sections_.gather(std::span<std::int32_t* const>(all));
    }

    void run(std::size_t round) {
        constexpr int lanes_share = 32;
        for (std::size_t r = 0; r < rows_.size(); ++r)
            visit_list(device_of(r), lists_[r], lanes_share,
                       choose_step{table(r), partners_[r].data(), choices_[r].data()});
        gather(choices_);
        for (std::size_t r = 0; r < rows_.size(); ++r)
            visit_rows(
                device_of(r), owners_.rows(), 1,
                agree_step{{}, choices_[r].data(), partners_[r].data(), found_[r].data() + round});
    }

    /// What rows of rank `from` send to rank `to`.
    struct message {
        std::size_t from;
        std::size_t to;
        buffer<std::int32_t> count;
        buffer<sent_coupling> sent;
        buffer<sent_coupling> received;
    };

    void visit_senders(const message& m) {
        const row_range own = owners_.owned(static_cast<int>(m.to));
        m.count.zero();
        visit_rows(device_of(m.from), rows_[m.from].rows,
                   mean_entries(a_, static_cast<int>(m.from)),
                   send_step{rows_[m.from], aggregate(m.from), static_cast<std::int32_t>(own.begin),
                             static_cast<std::int32_t>(own.end), m.count.data(), m.sent.data()});
    }

    /// Rows of one rank in aggregates of another send it their couplings: those at the boundary.
    /// All messages are counted before the host waits for a count.
    void send_couplings() {
        std::vector<message> messages;
        for (std::size_t from = 0; from < rows_.size(); ++from)
            for (std::size_t to = 0; to < rows_.size(); ++to) {
                if (from == to || rows_[from].rows == 0 ||
                    owners_.owned(static_cast<int>(to)).size() == 0)
                    continue;
                const auto& device = a_.comm().handle(static_cast<int>(from));
                messages.push_back({from, to, {device, 1, memory_item}, {}, {}});
                visit_senders(messages.back());
            }
        std::vector<rank_order> orders;
        const settled_on_failure settled(a_.comm()); // before arrays are freed
        for (message& m : messages) {
            const std::size_t couplings = as_size(m.count.download().front());
            if (couplings == 0) continue;
            const auto from = static_cast<int>(m.from);
            const auto to = static_cast<int>(m.to);
            m.sent = {a_.comm().handle(from), couplings, memory_item};
            m.received = {a_.comm().handle(to), couplings, memory_item};
            visit_senders(m);
            orders.push_back({from, to});
        }
        orders = both_ways(std::move(orders));
        a_.comm().order(orders);
        for (const message& m : messages)
            a_.comm().copy(static_cast<int>(m.from), m.sent.data(), static_cast<int>(m.to),
                           m.received.data(), m.sent.size() * sizeof(sent_coupling));
        a_.comm().order(orders);
        for (const message& m : messages)
            visit_rows(device_of(m.to), static_cast<std::int64_t>(m.received.size()), 1,
                       receive_step{{}, m.received.data(), table(m.to)});
    }

    const distributed_csr<T>& a_;
    const rank_parts<T>& parts_;
    const row_partition& owners_;
    section_exchange sections_; ///< of whole sections
    std::vector<rank_rows> rows_;
    std::vector<buffer<std::int32_t>> numbers_;
    std::vector<buffer<std::int32_t>> crowded_;
    std::vector<buffer<std::int32_t>> partners_;
    std::vector<buffer<std::int32_t>> choices_;
    std::vector<row_list> lists_;             ///< of aggregates that still choose
    std::vector<buffer<std::int32_t>> found_; ///< for each round whether there was a pair
};

} // namespace

template <class T>
row_partition pair_aggregates(const distributed_csr<T>& a, rank_parts<T>& parts,
                              const row_partition& aggregates) {
    pair_finder<T> find(a, parts, aggregates);
    find.add_up_couplings();
    find.find_pairs();
    std::vector<buffer<std::int32_t>> number;
    for (const int rank : a.comm().local())
        number.emplace_back(a.comm().handle(rank), as_size(aggregates.rows()), memory_item);
    row_partition pairs = find.number_pairs(number);
    for (const int rank : a.comm().local())
        visit_rows(
            a.comm()[rank], a.columns_of(rank).count(), 1,
            renumber_step{number[as_size(rank)].data(), parts[as_size(rank)].aggregate.data()});
    return pairs;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template row_partition pair_aggregates(const distributed_csr<T>&, rank_parts<T>&,              \
                                           const row_partition&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation
