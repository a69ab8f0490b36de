#include <cstdint>
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
    finder(const distributed_csr<T>& a, const column_exchange& exchange, const rank_parts<T>& parts,
           std::vector<buffer<std::uint8_t>> states)
        : a_(a), exchange_(exchange), states_(std::move(states)) {
        for (const int rank : a.comm().local()) {
            const auto& device = a.comm().handle(rank);
            const std::size_t columns = as_size(a.columns_of(rank).count());
            rows_.push_back(rows_of(a, parts[as_size(rank)], rank));
            next_states_.emplace_back(device, columns, memory_item);
            nearest_.emplace_back(device, columns, memory_item);
            aggregates_.emplace_back(device, columns, memory_item);
            key_lists_.emplace_back(device, a.block(rank).rows());
            undecided_lists_.emplace_back(device, a.block(rank).rows());
        }
    }

    /// Finds a set among the rows that are undecided.
    void find_set(std::uint32_t first_round) {
        for (auto& list : key_lists_) list.restart();
        for (auto& list : undecided_lists_) list.restart();
        // A grid needs 7 to 9 rounds, of which the last cost a GPU next to nothing; the host looks
        // whether they were enough after 8, and then after each two.
        visit_all([&](std::size_t r) {
            return begin_set_step{{}, rows_[r], states_[r].data(), key(r), first_round};
        });
        fill_ghosts(exchange_, aggregates_);
        const settled_on_failure settled(a_.comm());
        int rounds = 8;
        for (std::uint32_t round = first_round; size_of_undecided() != 0; rounds = 2)
            for (int i = 0; i < rounds; ++i, ++round) run(round);
        fill_ghosts(exchange_, states_);
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
        std::vector<buffer<std::int32_t>> before;
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            const auto& device = a_.comm().handle(static_cast<int>(r));
            before.emplace_back(device, as_size(rows_[r].rows + 1), memory_item);
            add_up_sizes(device, rows_[r].rows, is_root{states_[r].data() + rows_[r].columns.below},
                         before[r].data());
        }
        row_partition owners;
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            std::int32_t count = 0;
            a_.comm()[static_cast<int>(r)].download(&count, before[r].data() + rows_[r].rows,
                                                    sizeof count);
            owners.begin.push_back(owners.begin.back() + count);
        }
        visit_all([&](std::size_t r) {
            return number_roots_step{rows_[r],
                                     states_[r].data(),
                                     before[r].data(),
                                     static_cast<std::int32_t>(owners.begin[r]),
                                     aggregates_[r].data(),
                                     nearest_[r].data()};
        });
        fill_ghosts(exchange_, aggregates_);
        return owners;
    }

    /// Gives all rows with strong entries an aggregate.
    [[nodiscard]] std::vector<buffer<std::int32_t>> join() {
        for (auto& list : key_lists_) list.restart();
        visit_lists([&](std::size_t r) {
            return join_root_step{rows_[r], states_[r].data(), aggregates_[r].data(),
                                  nearest_[r].data()};
        });
        fill_ghosts(exchange_, aggregates_);
        visit_lists([&](std::size_t r) {
            return join_strongest_step{rows_[r], aggregates_[r].data(), nearest_[r].data()};
        });
        fill_ghosts(exchange_, nearest_);
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
        std::int64_t sum = 0;
        for (const auto& list : undecided_lists_) sum += list.size();
        return sum;
    }

    void run(std::uint32_t round) {
        visit_lists([&](std::size_t r) {
            return largest_key_step{{}, rows_[r], states_[r].data(), key(r), nearest(r)};
        });
        fill_in_turn(nearest_);
        for (std::size_t r = 0; r < rows_.size(); ++r)
            visit_list(device_of(r), undecided_lists_[r], mean(r),
                       decide_step{{}, rows_[r], nearest(r), states_[r].data(), key(r), round});
        fill_in_turn(aggregates_);
    }

    void fill_in_turn(const std::vector<buffer<std::int32_t>>& arrays) const {
        const std::vector<std::int32_t*> all = pointers_of(arrays);
        exchange_.fill_in_turn(std::span<std::int32_t* const>(all));
    }

    template <class Make>
    void visit_all(const Make& make) {
        for (std::size_t r = 0; r < rows_.size(); ++r)
            visit_rows(device_of(r), rows_[r].rows, mean(r), make(r));
    }

    /// Visits the rows in key_lists_.
    template <class Make>
    void visit_lists(const Make& make) {
        for (std::size_t r = 0; r < rows_.size(); ++r)
            visit_list(device_of(r), key_lists_[r], mean(r), make(r));
    }

    void take_next_states() {
        fill_ghosts(exchange_, next_states_);
        std::swap(states_, next_states_);
    }

    [[nodiscard]] device& device_of(std::size_t r) const { return a_.comm()[static_cast<int>(r)]; }
    [[nodiscard]] std::int64_t mean(std::size_t r) const {
        return mean_entries(a_, static_cast<int>(r));
    }

    const distributed_csr<T>& a_;
    const column_exchange& exchange_;
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
row_partition find_aggregates(const distributed_csr<T>& a, const column_exchange& exchange,
                              rank_parts<T>& parts, std::vector<buffer<std::uint8_t>> states,
                              bool in_pairs) {
    row_partition owners;
    { // pairs are found when the arrays of sets are freed
        finder<T> find(a, exchange, parts, std::move(states));
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
    template row_partition find_aggregates(const distributed_csr<T>&, const column_exchange&,      \
                                           rank_parts<T>&, std::vector<buffer<std::uint8_t>>,      \
                                           bool);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation
