#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/loops/running_sums.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/join_steps.hpp>
#include <krylith/precond/coarsening/set_steps.hpp>

namespace krylith::aggregation {

namespace {

/// The arrays of all ranks while aggregates are found.
template <class T>
class finder {
public:
    finder(const distributed_csr<T>& a, const exchange& ghosts, const rank_parts<T>& parts,
           std::vector<buffer<std::uint8_t>> states)
        : a_(a), ghosts_(ghosts), states_(std::move(states)) {
        const communicator& comm = a.comm();
        const auto numbers_of_columns = [&](int rank) {
            return buffer<std::int32_t>(comm.handle(rank), as_size(a.columns_of(rank).count()),
                                        memory_item);
        };
        const auto list_of_rows = [&](int rank) {
            return row_list(comm.handle(rank), a.block(rank).rows());
        };
        rows_ = by_rank(comm, [&](int rank) { return rows_of(a, parts[as_size(rank)], rank); });
        next_states_ = by_rank(comm, [&](int rank) {
            return buffer<std::uint8_t>(comm.handle(rank), as_size(a.columns_of(rank).count()),
                                        memory_item);
        });
        nearest_ = by_rank(comm, numbers_of_columns);
        aggregates_ = by_rank(comm, numbers_of_columns);
        key_lists_ = by_rank(comm, list_of_rows);
        undecided_lists_ = by_rank(comm, list_of_rows);
    }

    /// Finds a set among the rows that are undecided.
    void find_set(std::uint32_t first_round) {
        for (const int rank : a_.comm().local()) {
            key_lists_[as_size(rank)].restart();
            undecided_lists_[as_size(rank)].restart();
        }
        // A grid needs 7 to 9 rounds, of which the last cost a GPU next to nothing; the host looks
        // whether they were enough after 8, and then after each two.
        visit_all([&](std::size_t r) {
            return begin_set_step{{}, rows_[r], states_[r].data(), key(r), first_round};
        });
        ghosts_.fetch(aggregates_);
        const settled_on_failure settled(a_.comm());
        int rounds = 8;
        for (std::uint32_t round = first_round; size_of_undecided() != 0; rounds = 2)
            for (int i = 0; i < rounds; ++i, ++round) run(round);
        ghosts_.fetch(states_);
    }

    void begin_second_set() {
        visit_all([&](std::size_t r) {
            return left_step{{}, rows_[r], states_[r].data(), nearest(r), next_states_[r].data()};
        });
        take_next_states();
        visit_all([&](std::size_t r) {
            return candidate_step{rows_[r], states_[r].data(), next_states_[r].data()};
        });
        take_next_states();
    }

    /// Numbers the roots; returns who owns them.
    [[nodiscard]] row_partition number_roots() {
        const communicator& comm = a_.comm();
        const auto before = by_rank(comm, [&](int rank) {
            const rank_rows& rows = rows_[as_size(rank)];
            buffer<std::int32_t> sums(comm.handle(rank), as_size(rows.rows + 1), memory_item);
            add_up_sizes(comm.handle(rank), rows.rows,
                         is_root{states_[as_size(rank)].data() + rows.columns.below}, sums.data());
            return sums;
        });
        const row_partition owners = owners_of_last(comm, before);
        visit_all([&](std::size_t r) {
            return number_roots_step{rows_[r],
                                     states_[r].data(),
                                     before[r].data(),
                                     static_cast<std::int32_t>(owners.begin[r]),
                                     aggregates_[r].data(),
                                     nearest_[r].data()};
        });
        ghosts_.fetch(aggregates_);
        return owners;
    }

    /// Gives all rows with strong entries an aggregate.
    [[nodiscard]] std::vector<buffer<std::int32_t>> join() {
        for (const int rank : a_.comm().local()) key_lists_[as_size(rank)].restart();
        visit_lists([&](std::size_t r) {
            return join_root_step{rows_[r], states_[r].data(), aggregates_[r].data(),
                                  nearest_[r].data()};
        });
        ghosts_.fetch(aggregates_);
        visit_lists([&](std::size_t r) {
            return join_strongest_step{rows_[r], aggregates_[r].data(), nearest_[r].data()};
        });
        ghosts_.fetch(nearest_);
        return std::move(nearest_);
    }

private:
    [[nodiscard]] std::uint32_t* nearest(std::size_t r) const {
        return reinterpret_cast<std::uint32_t*>(nearest_[r].data());
    }

    /// Keys lie where the numbers of aggregates will.
    [[nodiscard]] std::uint32_t* key(std::size_t r) const {
        return reinterpret_cast<std::uint32_t*>(aggregates_[r].data());
    }

    [[nodiscard]] std::int64_t size_of_undecided() const {
        auto sizes =
            by_rank(a_.comm(), [&](int rank) { return undecided_lists_[as_size(rank)].size(); });
        a_.comm().all_gather(sizes);
        return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    }

    void run(std::uint32_t round) {
        visit_lists([&](std::size_t r) {
            return largest_key_step{{}, rows_[r], states_[r].data(), key(r), nearest(r)};
        });
        ghosts_.fetch_in_turn(pointers_of(nearest_));
        for (const int rank : a_.comm().local()) {
            const std::size_t r = as_size(rank);
            visit_list(a_.comm()[rank], undecided_lists_[r], mean_entries(a_, rank),
                       decide_step{{}, rows_[r], nearest(r), states_[r].data(), key(r), round});
        }
        ghosts_.fetch_in_turn(pointers_of(aggregates_));
    }

    template <class Make>
    void visit_all(const Make& make) {
        for (const int rank : a_.comm().local())
            visit_rows(a_.comm()[rank], rows_[as_size(rank)].rows, mean_entries(a_, rank),
                       make(as_size(rank)));
    }

    /// Visits the rows in key_lists_.
    template <class Make>
    void visit_lists(const Make& make) {
        for (const int rank : a_.comm().local())
            visit_list(a_.comm()[rank], key_lists_[as_size(rank)], mean_entries(a_, rank),
                       make(as_size(rank)));
    }

    void take_next_states() {
        ghosts_.fetch(next_states_);
        std::swap(states_, next_states_);
    }

    const distributed_csr<T>& a_;
    const exchange& ghosts_;
    std::vector<rank_rows> rows_;
    std::vector<buffer<std::uint8_t>> states_;
    std::vector<buffer<std::uint8_t>> next_states_;
    std::vector<buffer<std::int32_t>> nearest_; ///< keys; they travel as integers with a sign
    std::vector<buffer<std::int32_t>> aggregates_;
    std::vector<row_list> key_lists_;
    std::vector<row_list> undecided_lists_;
};

} // namespace

template <class T>
row_partition find_aggregates(const distributed_csr<T>& a, const exchange& ghosts,
                              rank_parts<T>& parts, std::vector<buffer<std::uint8_t>> states,
                              bool in_pairs) {
    row_partition owners;
    { // pairs are found when the arrays of sets are freed
        finder<T> find(a, ghosts, parts, std::move(states));
        find.find_set(0);
        find.begin_second_set();
        find.find_set(second_set);
        owners = find.number_roots();
        auto aggregates = find.join();
        for (std::size_t r = 0; r < parts.size(); ++r)
            parts[r].aggregate = std::move(aggregates[r]);
    }
    if (in_pairs) owners = pair_aggregates(a, parts, owners);
    find_used(a, owners, parts);
    return owners;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template row_partition find_aggregates(const distributed_csr<T>&, const exchange&,             \
                                           rank_parts<T>&, std::vector<buffer<std::uint8_t>>,      \
                                           bool);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation
