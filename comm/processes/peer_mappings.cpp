#include <krylith/comm/processes/peer_mappings.hpp>

#include <algorithm>
#include <cstring>
#include <string>

#include <krylith/comm/agreement/agreement.hpp>
#include <krylith/device/error.hpp>

namespace krylith {

namespace {

/// An address as others understand it.
struct place {
    std::uint64_t piece; ///< 0: null
    std::uint64_t offset;
};

/// What a driver tells: places of its ranks, then pieces that the others don't know yet, then those
/// that are gone.
struct told_counts {
    std::uint64_t places;
    std::uint64_t pieces;
    std::uint64_t gone;
};
struct piece_of_rank {
    int rank;
    exported_piece piece; ///< of what is gone, the id alone
};

template <class V>
void add(std::vector<std::byte>& bytes, const V& value) {
    const auto* const first = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof value);
}

template <class V>
V taken(const std::byte*& at) {
    V value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
}

} // namespace

peer_mappings::peer_mappings(device_group devices, std::size_t driver, int first,
                             std::vector<bool> near)
    : devices_(std::move(devices)), driver_(driver), first_(first), near_(std::move(near)) {
    int begun = 0;
    try {
        for (; begun < devices_.size(); ++begun) devices_[begun].exporter().begin();
    } catch (...) {
        while (begun > 0) devices_[--begun].exporter().end();
        throw;
    }
}

peer_mappings::~peer_mappings() {
    for (const auto& [name, of] : pieces_) unmap(of);
    for (int k = 0; k < devices_.size(); ++k) devices_[k].exporter().end();
}

void peer_mappings::unmap(const mapped& of) noexcept {
    if (of.at != nullptr && !of.near) devices_[0].exporter().unmap(of.at, of.piece);
}

/// Learns of pieces that are new, and of those that are gone.
void peer_mappings::take(std::span<const std::byte> told, std::size_t driver) {
    const std::byte* at = told.data();
    const auto counts = taken<told_counts>(at);
    at += counts.places * sizeof(place);
    for (std::uint64_t k = 0; k < counts.pieces; ++k) {
        const auto of = taken<piece_of_rank>(at);
        pieces_.try_emplace({of.rank, of.piece.id}, mapped{of.piece, near_[driver]});
    }
    for (std::uint64_t k = 0; k < counts.gone; ++k) {
        const auto of = taken<piece_of_rank>(at);
        const auto found = pieces_.find({of.rank, of.piece.id});
        if (found == pieces_.end()) continue;
        unmap(found->second);
        pieces_.erase(found);
    }
}

void peer_mappings::reach(std::span<std::byte*> addresses, std::span<const int> ranks,
                          const gather& all) {
    std::vector<place> places;
    std::vector<piece_of_rank> fresh;
    for (std::size_t k = 0; k < addresses.size(); ++k) {
        const int rank = ranks[k];
        if (!is_local(rank)) continue;
        place& own = places.emplace_back(place{0, 0});
        if (addresses[k] == nullptr) continue;
        const exported_piece piece = device_of(rank).exporter().piece_of(addresses[k]);
        if (piece.id == 0)
            throw usage_error("memory that another process is to reach is not that of " +
                              device_of(rank).description() +
                              ", or it was allocated before the communicator was made");
        own = {piece.id, static_cast<std::uint64_t>(addresses[k] - piece.begin)};
        if (!told_.contains({rank, piece.id})) fresh.push_back({rank, piece});
    }
    std::vector<piece_of_rank> gone;
    for (int k = 0; k < devices_.size(); ++k)
        for (const std::uint64_t id : devices_[k].exporter().withdrawn())
            gone.push_back({first_ + k, {id, nullptr, 0, {}}});
    std::vector<std::byte> told;
    add(told, told_counts{places.size(), fresh.size(), gone.size()});
    for (const place& one : places) add(told, one);
    for (const auto* const list : {&fresh, &gone})
        for (const piece_of_rank& one : *list) add(told, one);

    const auto told_by_all = all(told);

    for (const piece_of_rank& one : fresh) told_.insert({one.rank, one.piece.id});
    for (const piece_of_rank& one : gone) told_.erase({one.rank, one.piece.id});
    for (int k = 0; k < devices_.size(); ++k) devices_[k].exporter().told();
    // Where a piece can't be mapped, all are known all the same.
    for (std::size_t driver = 0; driver < told_by_all.size(); ++driver)
        if (driver != driver_) take(told_by_all[driver], driver);
    std::size_t k = 0;
    for (std::size_t driver = 0; driver < told_by_all.size(); ++driver) {
        const std::byte* at = told_by_all[driver].data();
        const std::size_t end = k + taken<told_counts>(at).places;
        agreement::check_step(end <= addresses.size());
        for (; k < end; ++k) {
            const auto of = taken<place>(at);
            if (driver == driver_) continue;
            addresses[k] = of.piece == 0 ? nullptr : mapped_piece(ranks[k], of.piece) + of.offset;
        }
    }
    agreement::check_step(k == addresses.size());
}

/// A piece of another rank, mapped at its first use.
std::byte* peer_mappings::mapped_piece(int rank, std::uint64_t id) {
    mapped& of = pieces_.at({rank, id});
    if (of.at == nullptr) of.at = of.near ? of.piece.begin : devices_[0].exporter().map(of.piece);
    return of.at;
}

} // namespace krylith
