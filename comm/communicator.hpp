// The ranks of one solve, and how they reach each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <krylith/comm/agreement/agreement.hpp>
#include <krylith/comm/driver_link.hpp>
#include <krylith/comm/lists/packed_lists.hpp>
#include <krylith/device/device_group.hpp>

namespace krylith {

/// What drivers tell each other as bytes. Addresses go by communicator::addresses().
template <class V>
concept sent_by_value = std::is_trivially_copyable_v<V> && !std::is_pointer_v<V>;

struct communicator_options {
    /// Treats drivers that are threads of one process like those of several: to test, or to
    /// compare.
    bool separate_memory = false;
    /// Treats drivers like those on machines of their own, likewise.
    bool separate_machines = false;
};

class message_carrier;

/// Bytes that go from one rank to another through the hosts; each driver gives the addresses of its
/// local ranks.
struct carried_bytes {
    int from = 0;
    const std::byte* source = nullptr;
    int to = 0;
    std::byte* target = nullptr;
    std::size_t bytes = 0;
};

/// Ranks 0..ranks()-1, each of which is a device. They are the devices of one group, or those of
/// several: then each group has a *driver*, a host thread that sees its own devices alone. Drivers
/// are threads of one process, or processes, on one machine or several. Ranks whose devices a
/// driver has are its *local* ranks.
///
/// All drivers make the same objects and call the same functions with the same arguments in the
/// same order, but for what belongs to a rank: of an array with an entry a rank, each driver gives
/// and gets those of its local ranks. Functions that wait for the other drivers are called
/// collective below; where one driver has all ranks, they cost nothing.
///
/// A communicator is a cheap value: copies refer to the same ranks.
class communicator {
public:
    communicator(device_group devices); // NOLINT: the devices of a group are ranks
    /// Joins groups: the ranks of driver k follow those of driver k - 1. Where drivers are
    /// processes of one machine, what their devices allocate from now on can be mapped by the
    /// others. Where they are on several, all paths between drivers are posted. Collective. Throws
    /// usage_error where groups are of different kinds or too many devices, device_error where
    /// processes can't map each other's memory.
    communicator(device_group devices, std::shared_ptr<driver_link> drivers,
                 const communicator_options& options = {});

    [[nodiscard]] int ranks() const noexcept;
    /// The local ranks, ascending; none for drivers that a sub() has no rank of.
    [[nodiscard]] std::span<const int> local() const noexcept;
    /// Where all ranks have the same, it is read from this one. Throws usage_error where there is
    /// none.
    [[nodiscard]] int first_local() const;
    [[nodiscard]] bool is_local(int rank) const noexcept {
        return rank >= first_ && rank < first_ + devices_.size();
    }
    [[nodiscard]] int drivers() const noexcept {
        return agreement_ ? static_cast<int>(agreement_->drivers()) : 1;
    }
    /// Whether this driver has all ranks, and nobody else is to be asked.
    [[nodiscard]] bool has_one_driver() const noexcept { return agreement_ == nullptr; }
    /// Throws usage_error, which says what needs it, where there are several drivers.
    void require_one_driver(const std::string& who) const;
    /// The devices of the local ranks.
    [[nodiscard]] const device_group& devices() const noexcept { return devices_; }
    /// The device of a local rank.
    [[nodiscard]] device& operator[](int rank) const { return devices_[rank - first_]; }
    [[nodiscard]] const std::shared_ptr<device>& handle(int rank) const {
        return devices_.handle(rank - first_);
    }
    [[nodiscard]] backend kind() const noexcept { return devices_.kind(); }
    /// device::description() of any rank.
    [[nodiscard]] std::string description(int rank) const;
    /// Makes a communicator of one local rank that only this driver has, with the same stream and
    /// memory, so that what either enqueues on the device is in one order.
    [[nodiscard]] communicator alone(int rank) const { return devices_.alone(rank - first_); }
    /// Makes a communicator of some ranks: its rank k is ranks[k] of this one, with the same stream
    /// and memory. All drivers have it, and call its collective functions; those that have none of
    /// the ranks get the values of the others, so that all hosts decide alike. A failure is that of
    /// all drivers, whichever of both communicators they use meanwhile. Those of the same ranks are
    /// equal. Throws usage_error unless there is a rank and they ascend.
    [[nodiscard]] communicator sub(std::span<const int> ranks) const;

    /// The path from one rank to another; it is direct where from == to.
    [[nodiscard]] peer_path path(int from, int to) const noexcept;
    /// True where kernels may wait for kernels of other ranks: no pair is staged and no physical
    /// device stands twice. Otherwise execution is eager and events order what crosses devices.
    [[nodiscard]] bool concurrent() const noexcept { return serialised_because().empty(); }
    /// The reason why it is not concurrent, for reports; empty if it is.
    [[nodiscard]] const std::string& serialised_because() const noexcept;

    // --- order of work -------------------------------------------------------------------------
    /// Makes work given to any device after this run after all work given to every device before.
    /// Collective.
    void join() const;
    /// The same for some pairs of ranks. Collective; all drivers give the same pairs.
    void order(std::span<const rank_order> pairs) const;
    /// Runs `launches`, which enqueues kernels that wait for kernels of other ranks. The time-out
    /// of those that run already begins when all are enqueued. Collective.
    void launch_together(const std::function<void()>& launches) const;
    /// A word in host memory, not 0 while launches are under way, that waiting kernels read before
    /// they give up. It is null where no kernel waits for others, and for host devices.
    [[nodiscard]] const std::uint32_t* launching() const noexcept;
    /// Blocks until the local devices are idle; throws the first failure.
    void synchronize() const { devices_.synchronize(); }
    /// Blocks until all devices are idle. Collective. Kernels of other drivers may write into what
    /// products use until then: it comes before such vectors and operators are destroyed, but not
    /// after a solve, which waits itself.
    void synchronize_all() const;

    // --- data ----------------------------------------------------------------------------------
    /// Copies from a local rank to any but by a posted path, in the order of the stream of `from`;
    /// addresses() says where memory of other drivers' ranks is. It works without peer access.
    void copy(int from, const void* source, int to, void* target, std::size_t bytes) const;
    /// Fills by_rank, [ranks], of which local entries are right, with those of the others.
    /// Collective.
    template <class V>
    requires sent_by_value<V>
    void all_gather(std::span<V> by_rank) const {
        if (!has_one_driver())
            gather_items(collective_step::numbers, std::as_writable_bytes(by_rank), sizeof(V));
    }
    template <class V>
    void all_gather(std::vector<V>& by_rank) const {
        all_gather(std::span<V>(by_rank));
    }
    /// The same of lists of any lengths, one a rank.
    template <class V>
    requires sent_by_value<V>
    void all_gather_lists(std::vector<std::vector<V>>& by_rank) const;
    /// Returns those of all drivers' lists that are for local ranks, the local ones first.
    /// Collective.
    template <class V>
    requires sent_by_value<V>
    [[nodiscard]] std::vector<addressed_list<V>>
    deliver(std::vector<addressed_list<V>> given) const;
    /// Moves bytes by posted paths; all drivers give the same moves. Waits for the local devices,
    /// and for the other drivers. Collective.
    void carry(std::span<const carried_bytes> moves) const;
    /// Whether any driver says so. Collective.
    [[nodiscard]] bool any(bool here) const;
    /// Returns the addresses, [ranks], of arrays of which the local ones are given, as the local
    /// devices reach them; null where paths are posted. Collective. Throws usage_error where
    /// drivers are processes and an array is not memory that its device has allocated for this
    /// communicator.
    template <class V>
    [[nodiscard]] std::vector<V*> addresses(std::span<V* const> arrays) const {
        std::vector<V*> result(arrays.begin(), arrays.end());
        if (has_one_driver()) return result;
        std::vector<std::byte*> places;
        for (V* const array : arrays)
            places.push_back(
                reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<V>*>(array)));
        reach(places);
        for (std::size_t k = 0; k < places.size(); ++k) result[k] = reinterpret_cast<V*>(places[k]);
        return result;
    }

    /// What carries what kernels leave for ranks by posted paths; null where there are none.
    [[nodiscard]] message_carrier* carrier() const noexcept;
    /// The driver that has a rank, where there are several.
    [[nodiscard]] int driver_of(int rank) const;

    // --- failures ------------------------------------------------------------------------------
    /// Returns what work() returns. Where it throws for any driver it does so for all of them: the
    /// class and the words are those of the first driver that failed, of communication_error only
    /// where none has another. Collective: with several drivers it returns when all devices are
    /// idle. May be nested.
    template <class Work>
    std::invoke_result_t<const Work&> together(const Work& work) const {
        return has_one_driver() ? work() : agreement_->together(work);
    }
    /// Whose failure together() has thrown last.
    [[nodiscard]] failure_place last_failure() const noexcept {
        return agreement_ ? agreement_->last_failure() : failure_place();
    }
    /// Waits, where something has failed, until no device works any more, of any driver: memory
    /// that others use may be freed then. The other drivers do so at the next collective function
    /// that they call, which throws.
    void settle() const noexcept;

    /// Has `restore` called by restore() for as long as the handle lives. It enqueues what makes
    /// words right again by which devices count what they send each other: where a device did not
    /// do its part they differ, and waits would never end.
    [[nodiscard]] std::shared_ptr<const void> when_restored(std::function<void()> restore) const;
    /// Says that a wait between devices has ended without what it waited for.
    void note_failure() const noexcept;
    /// Does nothing unless something has failed since the last call; else waits for all devices,
    /// throws a failure that has not been reported yet, and otherwise restores all words.
    void restore() const;

    /// Whether their ranks are the same devices, of the same drivers.
    friend bool operator==(const communicator& a, const communicator& b) {
        return a.devices_ == b.devices_ && a.agreement_ == b.agreement_ && a.ranks_like(b);
    }

private:
    struct shared_ranks;
    struct process_memory;
    /// Returns which drivers are threads of this process.
    [[nodiscard]] std::vector<bool> number_ranks(const communicator_options& options);
    void find_devices();
    void map_processes(std::vector<bool> near);
    void find_paths();
    [[nodiscard]] peer_path path_from(int from, int to) const;
    [[nodiscard]] bool ranks_like(const communicator& other) const noexcept;
    void gather_items(collective_step step, std::span<std::byte> by_rank, std::size_t size) const;
    void reach(std::vector<std::byte*>& addresses) const;
    void order_processes(std::span<const rank_order> pairs) const;
    void order_machines(std::span<const rank_order> pairs) const;
    /// Enqueues waits for the events of other drivers, [ranks] null where nobody waits for one.
    void wait_for(std::vector<std::shared_ptr<event>> reached,
                  std::span<const rank_order> pairs) const;

    device_group devices_;
    int first_ = 0;                             ///< the first local rank
    std::shared_ptr<agreement> agreement_;      ///< null: there is one driver
    std::shared_ptr<shared_ranks> shared_;      ///< null: there is one driver
    std::shared_ptr<process_memory> processes_; ///< null: drivers have one address space
};

/// Returns make(rank) of the local ranks, [ranks]; the entries of others are empty.
template <class Make>
[[nodiscard]] auto by_rank(const communicator& comm, const Make& make) {
    std::vector<std::invoke_result_t<const Make&, int>> result(
        static_cast<std::size_t>(comm.ranks()));
    for (const int rank : comm.local()) result[static_cast<std::size_t>(rank)] = make(rank);
    return result;
}

template <class V>
requires sent_by_value<V>
void communicator::all_gather_lists(std::vector<std::vector<V>>& by_rank) const {
    if (has_one_driver()) return;
    std::vector<std::uint64_t> sizes;
    for (const auto& list : by_rank) sizes.push_back(list.size());
    all_gather(sizes);
    const std::vector<V> joined = joined_lists(by_rank, local());
    take_joined_lists(
        agreement_->all_gather(collective_step::lists, std::as_bytes(std::span<const V>(joined))),
        sizes, by_rank);
}

template <class V>
requires sent_by_value<V> std::vector<addressed_list<V>>
communicator::deliver(std::vector<addressed_list<V>> given)
const {
    if (has_one_driver()) return given;
    std::vector<std::vector<std::byte>> sent(static_cast<std::size_t>(drivers()));
    std::vector<addressed_list<V>> result;
    for (addressed_list<V>& list : given) {
        if (is_local(list.to))
            result.push_back(std::move(list));
        else
            pack_list(list, sent[static_cast<std::size_t>(driver_of(list.to))]);
    }
    for (const std::vector<std::byte>& of_driver : agreement_->all_to_all(std::move(sent)))
        unpack_lists(of_driver, result);
    return result;
}

} // namespace krylith
