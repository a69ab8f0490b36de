// How arrays of ranks get what other ranks have, while matrices and preconditioners are made. The
// loops of solvers have channels (comm/channel).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/loops/listed_items.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/device/memory/buffer.hpp>

namespace krylith {

/// The arrays of buffers, or of what else has data(), one a rank.
template <class Array>
[[nodiscard]] auto pointers_of(const std::vector<Array>& arrays) {
    std::vector<decltype(arrays.front().data())> result;
    for (const Array& array : arrays) result.push_back(array.data());
    return result;
}

/// [ranks], of which one rank has an array.
template <class V>
[[nodiscard]] std::vector<V*> only_on(const communicator& comm, int rank, V* array) {
    std::vector<V*> result(static_cast<std::size_t>(comm.ranks()), nullptr);
    result[static_cast<std::size_t>(rank)] = array;
    return result;
}

/// Items of an array of one rank, the owner, of which another rank, the user, has copies side by
/// side, or parts of sums. An item is one number of an array or several neighbours.
struct shared_items {
    int owner = 0;
    int user = 0;
    std::int64_t count = 0;
    std::int64_t at_owner = 0; ///< the place of the first item in the owner's array
    std::int64_t at_user = 0;  ///< and of its copy in the user's
    /// Where items lie apart at the owner, the places of all items of the user, of which these are
    /// those from list_begin on; item i is at at_owner + (*list)[list_begin + i] - list_first. It
    /// lies on the user's device, or the owner's (exchange::lists), and is null for drivers that
    /// have no such device.
    bool is_listed = false;
    std::shared_ptr<const buffer<std::int64_t>> list = nullptr;
    std::int64_t list_begin = 0;
    std::int64_t list_first = 0;

    /// The places of listed items, counted from at_owner, for kernels where the list is.
    [[nodiscard]] listed_items<std::int64_t> places() const noexcept {
        return {list->data() + list_begin, list_first};
    }
};

/// Moves items between arrays. What is enqueued is ordered: what the ranks enqueued before comes
/// before it, and what they enqueue after it sees all. It works on any group, without peer access
/// by staged copies. On one rank there is nothing to do. All functions that enqueue are collective.
/// Copies share the lists.
class exchange {
public:
    /// Where lists are needed.
    enum class lists {
        where_used, ///< users' kernels fetch items; only where copies are staged owners pack them
        at_owners   ///< all of them
    };

    exchange() = default;
    /// All drivers give the same items in the same order, but for lists, which lie on the users'
    /// devices. Those that owners need are copied, 8 bytes an item; what the owners enqueue after
    /// this sees them. Collective.
    exchange(const communicator& comm, std::vector<shared_items> items,
             lists where = lists::where_used);

    /// Copies from owners' arrays, [ranks], to those of users; an item is `numbers` entries.
    /// Throws usage_error for another number of arrays than ranks.
    template <class Given, class V>
    requires std::is_same_v<const Given, const V>
    void fetch(const std::vector<Given*>& owners, const std::vector<V*>& users,
               std::int64_t numbers = 1) const {
        fetch_items(as_bytes<const std::byte>(owners), as_bytes<std::byte>(users),
                    {sizeof(V), numbers}, false);
    }
    /// The same where each rank has one array, of its own items and of copies.
    template <class V>
    void fetch(const std::vector<V*>& arrays, std::int64_t numbers = 1) const {
        fetch(arrays, arrays, numbers);
    }
    template <class V>
    void fetch(const std::vector<buffer<V>>& arrays, std::int64_t numbers = 1) const {
        fetch(pointers_of(arrays), numbers);
    }
    /// The same where owners write the arrays again only after the next call of fetch() or
    /// fetch_in_turn(), which then orders this: rounds that fill two arrays in turn have half the
    /// waits of one device for another. The arrays must not be freed before the devices are done or
    /// joined.
    template <class V>
    void fetch_in_turn(const std::vector<V*>& arrays) const {
        fetch_items(as_bytes<const std::byte>(arrays), as_bytes<std::byte>(arrays), {sizeof(V), 1},
                    true);
    }

    /// Joins the owners' items with those that users have: `Join` is a step (visit_rows.hpp) with
    /// `own` and `other`. Users' items stay as they are. Not for listed items.
    template <class Join, class V>
    void join(const std::vector<V*>& arrays, std::int64_t numbers = 1) const {
        if (items_.empty()) return;
        const settled_on_failure settled(comm()); // before copies are freed
        const brought_items brought =
            bring(as_bytes<std::byte>(arrays), static_cast<std::size_t>(numbers) * sizeof(V));
        for (std::size_t k = 0; k < items_.size(); ++k) {
            const shared_items& m = items_[k];
            if (!comm().is_local(m.owner)) continue;
            Join step;
            step.other = reinterpret_cast<const V*>(brought.at[k]);
            step.own = arrays[static_cast<std::size_t>(m.owner)] + m.at_owner * numbers;
            visit_rows(comm()[m.owner], m.count * numbers, 1, step);
        }
        comm().order(orders_); // users may write theirs again
    }

    /// What travels, for all ranks.
    [[nodiscard]] std::span<const shared_items> items() const noexcept { return items_; }
    /// The same with owners and users in each other's place. Not for listed items.
    [[nodiscard]] exchange inverse() const;

private:
    struct item_width {
        std::size_t word; ///< bytes of a number
        std::int64_t numbers;
    };
    template <class Byte, class V>
    static std::vector<Byte*> as_bytes(const std::vector<V*>& arrays) {
        std::vector<Byte*> result;
        for (V* const array : arrays) result.push_back(reinterpret_cast<Byte*>(array));
        return result;
    }

    /// Where owners read what users have.
    struct brought_items {
        std::vector<buffer<std::byte>> copies; ///< [ranks] of staged items, on owners
        std::vector<const std::byte*> at;      ///< [items], of local owners
    };

    [[nodiscard]] const communicator& comm() const noexcept { return *comm_; }
    /// Whether neither reaches the other's memory; and whether hosts carry what moves then.
    [[nodiscard]] bool apart(const shared_items& m) const;
    [[nodiscard]] bool posted(const shared_items& m) const;
    /// Whether the user's kernels fetch items; otherwise owners send them.
    [[nodiscard]] bool fetched(const shared_items& m) const {
        return m.is_listed && lists_ == lists::where_used && !apart(m);
    }
    void bring_lists();
    void fetch_items(std::vector<const std::byte*> owners, std::vector<std::byte*> users,
                     item_width width, bool in_turn) const;
    void send(const shared_items& m, const std::byte* from, std::byte* to, item_width width) const;
    void carry_items(const std::vector<const std::byte*>& owners,
                     const std::vector<std::byte*>& users, item_width width) const;
    [[nodiscard]] brought_items bring(std::vector<std::byte*> users, std::size_t bytes) const;
    template <class Byte>
    [[nodiscard]] std::vector<Byte*> reached(std::vector<Byte*> arrays, int shared_items::*rank,
                                             std::int64_t shared_items::*at,
                                             std::size_t bytes) const;

    std::shared_ptr<const communicator> comm_; ///< null: empty
    std::vector<shared_items> items_;
    lists lists_ = lists::where_used;
    std::vector<rank_order> orders_; ///< both ways between ranks that share items, but for those
                                     ///< between which hosts carry them
    bool any_posted_ = false;
};

/// Returns the exchange by which rank `to` gets the items of all, itself included: those of rank r,
/// the first of its array, become items [begin[r], begin[r + 1]) there. Collective.
[[nodiscard]] exchange gather_to(int to, const communicator& comm,
                                 std::span<const std::int64_t> begin);

} // namespace krylith
