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
#include <krylith/precond/coarsening/rank_numbers.hpp>

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
          of_aggregates_(exchange_of_aggregates(
              a.comm(), aggregates,
              std::vector<row_range>(as_size(a.comm().ranks()), row_range{0, aggregates.rows()}))) {
        const communicator& comm = a.comm();
        const auto numbers_of = [&](const auto& count) {
            return by_rank(comm, [&](int rank) {
                return buffer<std::int32_t>(comm.handle(rank), count(rank), memory_item);
            });
        };
        const auto own = [&](int rank) { return as_size(owners_.owned(rank).size()); };
        const auto all = [&](int) { return as_size(owners_.rows()); };
        rows_ = by_rank(comm, [&](int rank) { return rows_of(a, parts[as_size(rank)], rank); });
        numbers_ = numbers_of([&](int rank) { return own(rank) * 2 * coupling_table::places; });
        crowded_ = numbers_of(own);
        partners_ = numbers_of(all);
        choices_ = numbers_of(all);
        found_ = numbers_of([](int) { return most_rounds; });
        lists_ = by_rank(comm, [&](int rank) {
            return row_list(comm.handle(rank), owners_.owned(rank).size());
        });
        for (const auto* zeros : {&numbers_, &crowded_})
            for (const auto& of_rank : *zeros) of_rank.zero();
    }

    void add_up_couplings() {
        for (const int rank : local())
            if (on(rank).kind() == backend::host)
                add_up_on_host(rank);
            else
                visit_rows(on(rank), rows_[as_size(rank)].rows, mean_entries(a_, rank),
                           couple_step{rows_[as_size(rank)], aggregate(rank), table(rank)});
        if (a_.comm().ranks() > 1) send_couplings();
    }

    void find_pairs() {
        for (const int rank : local()) {
            const std::size_t r = as_size(rank);
            visit_rows(on(rank), table(rank).count, 1,
                       begin_pairs_step{{}, table(rank), partners_[r].data(), choices_[r].data()});
        }
        of_aggregates_.fetch(partners_);
        // Each round finds partners for about half of those that are free. All ranks see the same.
        for (bool more = owners_.rows() != 0; more;) {
            for (const auto& found : found_) found.zero();
            for (std::size_t round = 0; round < most_rounds; ++round) run(round);
            std::int32_t last = 0;
            for (const int any : local().first(local().empty() ? 0 : 1))
                on(any).download(&last, found_[as_size(any)].data() + most_rounds - 1, sizeof last);
            more = a_.comm().any(last != 0);
        }
    }

    /// Numbers the pairs; number[rank] is that of each aggregate.
    [[nodiscard]] row_partition number_pairs(const std::vector<buffer<std::int32_t>>& number) {
        const communicator& comm = a_.comm();
        const std::int64_t all = owners_.rows();
        const auto before = by_rank(comm, [&](int rank) {
            const std::size_t r = as_size(rank);
            buffer<std::int32_t> sums(comm.handle(rank), as_size(all + 1), memory_item);
            add_up_sizes(comm.handle(rank), all, leads_pair{partners_[r].data()}, sums.data());
            visit_rows(on(rank), all, 1,
                       number_pairs_step{{}, partners_[r].data(), sums.data(), number[r].data()});
            return sums;
        });
        auto ends = by_rank(comm, [&](int rank) {
            std::int32_t end = 0;
            on(rank).download(&end, before[as_size(rank)].data() + owners_.owned(rank).end,
                              sizeof end);
            return end;
        });
        comm.all_gather(ends);
        row_partition pairs;
        pairs.begin.insert(pairs.begin.end(), ends.begin(), ends.end());
        return pairs;
    }

private:
    static constexpr std::size_t most_rounds = 6; ///< between two looks of the host

    [[nodiscard]] auto local() const { return a_.comm().local(); }
    [[nodiscard]] device& on(int rank) const { return a_.comm()[rank]; }
    [[nodiscard]] coupling_table table(int rank) const {
        const row_range own = owners_.owned(rank);
        return {static_cast<std::int32_t>(own.begin), static_cast<std::int32_t>(own.size()),
                numbers_[as_size(rank)].data(), crowded_[as_size(rank)].data()};
    }
    [[nodiscard]] const std::int32_t* aggregate(int rank) const {
        return parts_[as_size(rank)].aggregate.data();
    }

    void add_up_on_host(int rank) {
        host::in_parts(on(rank), rows_[as_size(rank)].rows,
                       [rows = rows_[as_size(rank)], aggregate = aggregate(rank),
                        table = table(rank), all = owners_.rows()](int part, int parts) {
                           const std::int64_t count = table.count;
                           const auto border = [&](std::int64_t at) {
                               return table.first + static_cast<std::int32_t>(count * at / parts);
                           };
                           krylith::aggregation::add_up_couplings(
                               rows, aggregate, table, border(part), border(part + 1), all);
                       });
    }

    void run(std::size_t round) {
        constexpr int lanes_share = 32;
        for (const int rank : local()) {
            const std::size_t r = as_size(rank);
            visit_list(on(rank), lists_[r], lanes_share,
                       choose_step{table(rank), partners_[r].data(), choices_[r].data()});
        }
        of_aggregates_.fetch(choices_);
        for (const int rank : local()) {
            const std::size_t r = as_size(rank);
            visit_rows(
                on(rank), owners_.rows(), 1,
                agree_step{{}, choices_[r].data(), partners_[r].data(), found_[r].data() + round});
        }
    }

    /// Couplings by ranks. `count` is 0 before.
    void visit_senders(int from, int to, std::int32_t* count, sent_coupling* sent) {
        const row_range own = owners_.owned(to);
        if (from == to || own.size() == 0) return;
        visit_rows(on(from), rows_[as_size(from)].rows, mean_entries(a_, from),
                   send_step{rows_[as_size(from)], aggregate(from),
                             static_cast<std::int32_t>(own.begin),
                             static_cast<std::int32_t>(own.end), count, sent});
    }

    /// Counts the couplings that rows of one rank have for another, from places among all that the
    /// first one sends to places among all that the second receives.
    [[nodiscard]] std::vector<shared_items> count_couplings() {
        const communicator& comm = a_.comm();
        const rank_numbers<std::int32_t> counts(comm, as_size(comm.ranks()), memory_item);
        for (const int from : local())
            for (int to = 0; to < comm.ranks(); ++to)
                visit_senders(from, to, counts.of(from) + to, nullptr);
        std::vector<shared_items> result;
        std::vector<std::int64_t> received(as_size(comm.ranks()), 0);
        int from = 0;
        for (const std::vector<std::int32_t>& of_rank : counts.of_all()) {
            std::int64_t sent = 0;
            for (int to = 0; to < comm.ranks(); ++to) {
                const std::int64_t count = of_rank[as_size(to)];
                if (count == 0) continue;
                result.push_back({from, to, count, sent, received[as_size(to)]});
                sent += count;
                received[as_size(to)] += count;
            }
            ++from;
        }
        return result;
    }

    /// Rows of one rank in aggregates of another send it their couplings: those at the boundary.
    void send_couplings() {
        const communicator& comm = a_.comm();
        const exchange couplings(comm, count_couplings());
        const auto arrays = [&](int shared_items::*of) {
            return by_rank(comm, [&](int rank) {
                std::int64_t sum = 0;
                for (const shared_items& m : couplings.items())
                    if (m.*of == rank) sum += m.count;
                return buffer<sent_coupling>(comm.handle(rank), as_size(sum), memory_item);
            });
        };
        const auto sent = arrays(&shared_items::owner);
        const auto received = arrays(&shared_items::user);
        const rank_numbers<std::int32_t> counts(comm, couplings.items().size(), memory_item);
        const settled_on_failure settled(comm); // before arrays are freed
        std::size_t next = 0;
        for (const shared_items& m : couplings.items()) {
            if (comm.is_local(m.owner))
                visit_senders(m.owner, m.user, counts.of(m.owner) + next,
                              sent[as_size(m.owner)].data() + m.at_owner);
            ++next;
        }
        couplings.fetch(pointers_of(sent), pointers_of(received));
        for (const int rank : local()) {
            const auto& of_rank = received[as_size(rank)];
            visit_rows(on(rank), static_cast<std::int64_t>(of_rank.size()), 1,
                       receive_step{{}, of_rank.data(), table(rank)});
        }
    }

    const distributed_csr<T>& a_;
    const rank_parts<T>& parts_;
    const row_partition& owners_;
    exchange of_aggregates_; ///< of all of them
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
    const auto number = by_rank(a.comm(), [&](int rank) {
        return buffer<std::int32_t>(a.comm().handle(rank), as_size(aggregates.rows()), memory_item);
    });
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
