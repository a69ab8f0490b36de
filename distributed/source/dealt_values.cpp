#include <krylith/distributed/source/dealt_values.hpp>

#include <algorithm>
#include <utility>

#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/sparse/storage/bring_values.hpp>

namespace krylith {

namespace {

/// The entries where they lie on the device that wants them, side by side; null where they don't.
template <class V>
const V* in_place(const array_over_group<V>& from, const wanted_entries& wanted) {
    if (!wanted.entries->consecutive() || wanted.entries->ranges().empty()) return nullptr;
    const auto rank = static_cast<std::size_t>(wanted.rank);
    const row_range range = wanted.entries->ranges().front();
    if (range.begin < from.first[rank] || range.end > from.first[rank + 1]) return nullptr;
    return from.of[rank] + (range.begin - from.first[rank]);
}

/// Enqueues the copies of ranges from the devices that have them.
template <class V>
void copy_ranges(const communicator& comm, const array_over_group<V>& from,
                 const wanted_entries& wanted, V* to) {
    wanted.entries->for_ranges(0, wanted.entries->size(), [&](row_range range, std::int64_t at) {
        for (const int rank : comm.local()) {
            const std::int64_t first = from.first[static_cast<std::size_t>(rank)];
            const std::int64_t begin = std::max(range.begin, first);
            const std::int64_t end =
                std::min(range.end, from.first[static_cast<std::size_t>(rank) + 1]);
            if (begin < end)
                comm.copy(rank, from.of[static_cast<std::size_t>(rank)] + (begin - first),
                          wanted.rank, to + at + (begin - range.begin),
                          static_cast<std::size_t>(end - begin) * sizeof(V));
        }
    });
}

/// All entries in host memory.
template <class V>
std::vector<V> download_all(const communicator& comm, const array_over_group<V>& from) {
    std::vector<V> all(static_cast<std::size_t>(from.first.back()));
    for (const int rank : comm.local()) {
        const auto at = static_cast<std::size_t>(rank);
        const std::int64_t count = from.first[at + 1] - from.first[at];
        if (count != 0)
            comm[rank].download(all.data() + from.first[at], from.of[at],
                                static_cast<std::size_t>(count) * sizeof(V));
    }
    return all;
}

} // namespace

template <class V>
std::vector<brought_entries<V>>
bring_entries(const communicator& comm, const array_over_group<V>& from,
              std::span<const wanted_entries> wanted, const std::string& item) {
    std::vector<brought_entries<V>> result(wanted.size());
    const settled_on_failure settled(comm); // before copies are freed
    std::vector<V> all;                     // where any entries go by their numbers
    bool any_copies = false;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        const wanted_entries& w = wanted[k];
        const std::int64_t size = w.entries->size();
        result[k].data = in_place(from, w);
        if (size == 0 || result[k].data != nullptr) continue;
        if (w.entries->ranges().empty()) {
            std::vector<V> room;
            if (all.empty()) all = download_all(comm, from);
            result[k].copies = {comm.handle(w.rank), w.entries->of(std::span<const V>(all), room),
                                item};
        } else {
            result[k].copies = {comm.handle(w.rank), static_cast<std::size_t>(size), item};
            any_copies = true;
        }
        result[k].data = result[k].copies.data();
    }
    if (!any_copies) return result;
    comm.join(); // orders the copies after earlier users of their memory
    for (std::size_t k = 0; k < wanted.size(); ++k)
        if (result[k].copies.size() != 0 && !wanted[k].entries->ranges().empty())
            copy_ranges(comm, from, wanted[k], result[k].copies.data());
    comm.join();
    return result;
}

template <class T>
void dealt_values<T>::add(int rank, device_matrix<T>& block, entry_list entries) {
    blocks_.push_back({rank, &block, std::move(entries)});
}

template <class T>
void dealt_values<T>::bring(const communicator& comm, std::span<const T> all) const {
    std::vector<value_delivery<T>> together;
    std::vector<T> room;
    for (const block_entries& b : blocks_)
        if (value_intake<T>* const to = b.block->intake())
            together.push_back({&comm[b.rank], to, &b.entries});
        else
            b.block->update(b.entries.of(all, room));
    bring_values<T>(all.data(), together);
}

template <class T>
void dealt_values<T>::bring(const communicator& comm, const array_over_group<T>& from) const {
    std::vector<wanted_entries> wanted;
    for (const block_entries& b : blocks_) wanted.push_back({b.rank, &b.entries});
    const auto brought =
        bring_entries(comm, from, std::span<const wanted_entries>(wanted), "matrix update");
    for (std::size_t k = 0; k < blocks_.size(); ++k)
        if (blocks_[k].entries.size() != 0) blocks_[k].block->update_on_device(brought[k].data);
}

template std::vector<brought_entries<std::int32_t>>
bring_entries(const communicator&, const array_over_group<std::int32_t>&,
              std::span<const wanted_entries>, const std::string&);
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::vector<brought_entries<T>> bring_entries(                                        \
        const communicator&, const array_over_group<T>&, std::span<const wanted_entries>,          \
        const std::string&);                                                                       \
    template class dealt_values<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
