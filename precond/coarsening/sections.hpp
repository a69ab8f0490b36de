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
    section_exchange(communicator comm, const row_partition& aggregates,
                     std::span<const row_range> used)
        : comm_(std::move(comm)) {
        std::vector<rank_order> orders;
        for (const int owner : comm_.local())
            for (const int user : comm_.local()) {
                const row_range own = aggregates.owned(owner);
                const row_range& of_user = used[static_cast<std::size_t>(user)];
                const row_range both{std::max(own.begin, of_user.begin),
                                     std::min(own.end, of_user.end)};
                if (owner == user || both.begin >= both.end) continue;
                pieces_.push_back({owner, user, both});
                orders.push_back({owner, user});
            }
        orders_ = both_ways(std::move(orders));
    }

    /// Enqueues copies of what ranks use of the sections of others. An aggregate has `numbers`
    /// entries of an array.
    template <class V>
    void gather(std::span<V* const> arrays, std::int64_t numbers = 1) const {
        if (pieces_.empty()) return;
        const settled_on_failure settled(comm_);
        comm_.order(orders_); // owners' entries are there, users need their old ones no more
        for (const piece& p : pieces_)
            comm_.copy(p.owner, p.of(arrays, p.owner, numbers), p.user,
                       p.of(arrays, p.user, numbers), p.size(numbers) * sizeof(V));
        comm_.order(orders_);
    }

    /// Enqueues what makes each rank's own section right: Join, a step, joins it with those of the
    /// ranks that use it.
    template <class Join, class V>
    void join(std::span<V* const> arrays, std::int64_t numbers = 1) const {
        if (pieces_.empty()) return;
        std::vector<buffer<V>> copies; // where the owner's kernels can't read the user's
        for (const piece& p : pieces_)
            copies.emplace_back(comm_.handle(p.owner), staged(p) ? p.size(numbers) : 0,
                                "sections of other ranks");
        const settled_on_failure settled(comm_); // before the copies are freed
        comm_.order(orders_);
        for (std::size_t i = 0; i < pieces_.size(); ++i)
            if (const piece& p = pieces_[i]; staged(p))
                comm_.copy(p.user, p.of(arrays, p.user, numbers), p.owner, copies[i].data(),
                           p.size(numbers) * sizeof(V));
        if (std::ranges::any_of(pieces_, [&](const piece& p) { return staged(p); }))
            comm_.order(orders_);
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            const piece& p = pieces_[i];
            Join step;
            step.other = staged(p) ? copies[i].data() : p.of(arrays, p.user, numbers);
            step.own = p.of(arrays, p.owner, numbers);
            visit_rows(comm_[p.owner], static_cast<std::int64_t>(p.size(numbers)), 1, step);
        }
        comm_.order(orders_); // users may write theirs again
    }

private:
    struct piece {
        int owner;
        int user;
        row_range aggregates;

        template <class V>
        [[nodiscard]] V* of(std::span<V* const> arrays, int rank, std::int64_t numbers) const {
            return arrays[static_cast<std::size_t>(rank)] + aggregates.begin * numbers;
        }
        [[nodiscard]] std::size_t size(std::int64_t numbers) const {
            return static_cast<std::size_t>(aggregates.size() * numbers);
        }
    };

    [[nodiscard]] bool staged(const piece& p) const {
        return comm_.path(p.owner, p.user) == peer_path::staged;
    }

    communicator comm_;
    std::vector<piece> pieces_;
    std::vector<rank_order> orders_; ///< both ways between ranks with a piece
};

} // namespace krylith::aggregation
