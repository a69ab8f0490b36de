// Arrays with numbers for each aggregate. Each rank is right about its section, that of the
// aggregates that it owns, or has a part of every sum; of the other sections it needs, and has
// parts of, what its rows refer to. It has memory for these alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith::aggregation {

/// What travels between sections. Nothing on one rank.
class section_exchange {
public:
    /// used[rank] has the aggregates of other ranks that the rank's rows refer to, and maybe more.
    /// Collective, as all functions.
    section_exchange(communicator comm, const row_partition& aggregates,
                     std::vector<row_range> used)
        : comm_(std::move(comm)), first_(used.size(), aggregates.rows()) {
        comm_.all_gather(used);
        std::vector<rank_order> orders;
        for (int owner = 0; owner < comm_.ranks(); ++owner) {
            const row_range own = aggregates.owned(owner);
            std::int64_t place = 0;
            for (int user = 0; user < comm_.ranks(); ++user) {
                const row_range& of_user = used[static_cast<std::size_t>(user)];
                const row_range both{std::max(own.begin, of_user.begin),
                                     std::min(own.end, of_user.end)};
                if (owner == user || both.begin >= both.end) continue;
                pieces_.push_back({owner, user, both, place});
                orders.push_back({owner, user});
                if (staged(pieces_.back())) place += both.size();
                for (const int rank : {owner, user}) {
                    std::int64_t& first = first_[static_cast<std::size_t>(rank)];
                    first = std::min(first, both.begin);
                }
            }
        }
        orders_ = both_ways(std::move(orders));
        std::ranges::replace(first_, aggregates.rows(), std::int64_t{0}); // ranks without pieces
    }

    /// Enqueues copies of what ranks use of the sections of others. An aggregate has `numbers`
    /// entries of an array.
    template <class V>
    void gather(std::span<V* const> arrays, std::int64_t numbers = 1) const {
        if (pieces_.empty()) return;
        const settled_on_failure settled(comm_);
        const std::vector<V*> all = addresses_of(arrays, numbers);
        comm_.order(orders_); // owners' entries are there, users need their old ones no more
        for (const piece& p : pieces_)
            if (comm_.is_local(p.owner))
                comm_.copy(p.owner, p.of(all, p.owner, numbers), p.user, p.of(all, p.user, numbers),
                           p.size(numbers) * sizeof(V));
        comm_.order(orders_);
    }

    /// Enqueues what makes each rank's own section right: Join, a step, joins it with those of the
    /// ranks that use it.
    template <class Join, class V>
    void join(std::span<V* const> arrays, std::int64_t numbers = 1) const {
        if (pieces_.empty()) return;
        const auto copies = by_rank(comm_, [&](int owner) {
            return buffer<V>(comm_.handle(owner), staged_size(owner, numbers),
                             "sections of other ranks");
        });
        const settled_on_failure settled(comm_); // before the copies are freed
        const std::vector<V*> all = addresses_of(arrays, numbers);
        const std::vector<V*> staging = staging_of(copies);
        const auto staged_at = [&](const piece& p) {
            return staging[static_cast<std::size_t>(p.owner)] + p.place * numbers;
        };
        comm_.order(orders_);
        for (const piece& p : pieces_)
            if (staged(p) && comm_.is_local(p.user))
                comm_.copy(p.user, p.of(all, p.user, numbers), p.owner, staged_at(p),
                           p.size(numbers) * sizeof(V));
        if (any_staged()) comm_.order(orders_);
        for (const piece& p : pieces_) {
            if (!comm_.is_local(p.owner)) continue;
            Join step;
            step.other = staged(p) ? staged_at(p) : p.of(all, p.user, numbers);
            step.own = p.of(all, p.owner, numbers);
            visit_rows(comm_[p.owner], static_cast<std::int64_t>(p.size(numbers)), 1, step);
        }
        comm_.order(orders_); // users may write theirs again
    }

private:
    struct piece {
        int owner;
        int user;
        row_range aggregates;
        std::int64_t place; ///< aggregates of pieces before it that the owner has staged copies of

        template <class V>
        [[nodiscard]] V* of(const std::vector<V*>& arrays, int rank, std::int64_t numbers) const {
            return arrays[static_cast<std::size_t>(rank)] + aggregates.begin * numbers;
        }
        [[nodiscard]] std::size_t size(std::int64_t numbers) const {
            return static_cast<std::size_t>(aggregates.size() * numbers);
        }
    };

    [[nodiscard]] bool staged(const piece& p) const {
        return comm_.path(p.owner, p.user) == peer_path::staged;
    }

    [[nodiscard]] bool any_staged() const {
        return std::ranges::any_of(pieces_, [&](const piece& p) { return staged(p); });
    }
    [[nodiscard]] std::size_t staged_size(int owner, std::int64_t numbers) const {
        std::size_t sum = 0;
        for (const piece& p : pieces_)
            if (p.owner == owner && staged(p)) sum += p.size(numbers);
        return sum;
    }

    /// The arrays of all ranks. An array begins where aggregate 0 would lie, which is no memory of
    /// the rank: what travels is the address of the first aggregate of its pieces.
    template <class V>
    [[nodiscard]] std::vector<V*> addresses_of(std::span<V* const> arrays,
                                               std::int64_t numbers) const {
        std::vector<V*> all(arrays.begin(), arrays.end());
        if (comm_.has_one_driver()) return all;
        for (const int rank : comm_.local())
            all[static_cast<std::size_t>(rank)] += at(rank, numbers);
        all = comm_.addresses(std::span<V* const>(all));
        for (int rank = 0; rank < comm_.ranks(); ++rank)
            all[static_cast<std::size_t>(rank)] -= at(rank, numbers);
        return all;
    }
    [[nodiscard]] std::int64_t at(int rank, std::int64_t numbers) const {
        return first_[static_cast<std::size_t>(rank)] * numbers;
    }
    template <class V>
    [[nodiscard]] std::vector<V*> staging_of(const std::vector<buffer<V>>& copies) const {
        std::vector<V*> own;
        for (const auto& of_owner : copies) own.push_back(of_owner.data());
        return any_staged() ? comm_.addresses(std::span<V* const>(own)) : own;
    }

    communicator comm_;
    std::vector<std::int64_t> first_; ///< [ranks] the lowest aggregate of a piece of the rank
    std::vector<piece> pieces_;       ///< of all ranks
    std::vector<rank_order> orders_;  ///< both ways between ranks with a piece
};

} // namespace krylith::aggregation
