// Which entries of a distributed vector each rank has, and their numbers there.
#pragma once

#include <krylith/comm/communicator.hpp>
#include <krylith/partition/row_partition.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace krylith {

/// The entries that one rank has: those that it owns, and its ghosts, which are copies of entries
/// that others own. Local numbers follow the global ones: ghosts below the owned entries, the owned
/// entries, ghosts above them. A rank that has all entries needs no list of ghosts: local numbers
/// are global ones. Global numbers have 64 bits. Copies share the list.
class local_indices {
public:
    local_indices() = default;
    /// `ghosts` ascend and are not owned, which index_map checks.
    local_indices(row_range owned, std::vector<std::int64_t> ghosts = {}); // NOLINT: a range is one
    /// All entries of [0, size).
    [[nodiscard]] static local_indices all(row_range owned, std::int64_t size);

    [[nodiscard]] const row_range& owned() const noexcept { return owned_; }
    /// The local number of the first owned entry: the number of ghosts below.
    [[nodiscard]] std::int64_t first_owned() const noexcept { return below_; }
    [[nodiscard]] std::int64_t ghost_count() const noexcept { return ghost_count_; }
    [[nodiscard]] std::int64_t count() const noexcept { return owned_.size() + ghost_count_; }
    /// The ghosts, ascending; empty where they are all that the rank doesn't own.
    [[nodiscard]] const std::vector<std::int64_t>& ghosts() const noexcept;
    /// Whether the rank has ghosts that no list names, since they are all that it doesn't own.
    [[nodiscard]] bool has_all() const noexcept { return ghost_count_ != 0 && !ghosts_; }

    /// The place in ghosts() of a ghost with this local number.
    [[nodiscard]] std::int64_t place(std::int64_t local) const noexcept {
        return local < below_ ? local : local - owned_.size();
    }
    /// The global number of a local one, O(1).
    [[nodiscard]] std::int64_t global(std::int64_t local) const noexcept;
    /// The local number of a global one, O(log ghosts); -1: the rank doesn't have the entry.
    [[nodiscard]] std::int64_t local(std::int64_t global) const noexcept;

    friend bool operator==(const local_indices& a, const local_indices& b) noexcept;

private:
    row_range owned_;
    std::int64_t below_ = 0;
    std::int64_t ghost_count_ = 0;
    std::shared_ptr<const std::vector<std::int64_t>> ghosts_; ///< null: none, or all others
};

/// The ghosts of a rank that one other rank owns: its local numbers [first, first + count).
struct neighbour_ghosts {
    int owner = 0;
    std::int64_t first = 0;
    std::int64_t count = 0;

    friend bool operator==(const neighbour_ghosts&, const neighbour_ghosts&) = default;
};

/// Who owns the entries of a vector, and which each rank has besides. Either ranks have lists of
/// ghosts, or each has all entries or none of others.
class index_map {
public:
    index_map() = default;
    /// Ranks have what they own.
    explicit index_map(row_partition owners);
    /// O(ghosts + ranks^2 log ghosts). Throws usage_error where `owners` are no partition, `local`
    /// is not one of these for each of its ranks, in order, or ghosts don't ascend, are owned or
    /// out of range; input_error where a rank has, or lists give to others, more entries than 32
    /// bits number.
    index_map(row_partition owners, std::vector<local_indices> local);
    /// The same where each driver of the communicator gives the indices of its local ranks;
    /// entries of other ranks are not looked at. Collective.
    index_map(const communicator& comm, row_partition owners, std::vector<local_indices> local);

    [[nodiscard]] const row_partition& owners() const noexcept { return owners_; }
    [[nodiscard]] int ranks() const noexcept { return owners_.ranks(); }
    /// The number of entries of the whole vector.
    [[nodiscard]] std::int64_t size() const noexcept { return owners_.rows(); }
    [[nodiscard]] row_range owned(int rank) const { return owners_.owned(rank); }

    /// Throws usage_error if there is no such rank, as all members with a rank. Of ranks that other
    /// drivers have, only what they own is known.
    [[nodiscard]] const local_indices& local(int rank) const;
    /// Whether any rank has ghosts.
    [[nodiscard]] bool any_ghosts() const noexcept;
    /// Whether ranks have all entries of others, and no lists.
    [[nodiscard]] bool is_whole() const noexcept;
    /// Whether local numbers are global ones: the rank has all entries.
    [[nodiscard]] bool has_all(int rank) const { return local(rank).count() == size(); }
    /// Whose entries the ghosts of a rank, local or not, are; owners ascend, and none gives
    /// nothing.
    [[nodiscard]] const std::vector<neighbour_ghosts>& neighbours(int rank) const;
    /// The number of entries that the rank gives to others, each counted for each of them. O(1).
    [[nodiscard]] std::int64_t given(int rank) const;

    friend bool operator==(const index_map&, const index_map&) = default;

private:
    [[nodiscard]] std::vector<neighbour_ghosts> find_neighbours(int rank) const;
    void count_given();

    row_partition owners_;
    std::vector<local_indices> local_;
    std::vector<std::vector<neighbour_ghosts>> neighbours_; ///< [ranks]
    std::vector<std::int64_t> given_;                       ///< [ranks]
    bool whole_ = false;
};

} // namespace krylith
