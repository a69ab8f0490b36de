#include <krylith/partition/halo/index_map.hpp>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace krylith {

namespace {

using std::to_string;

void check_ghosts(int rank, const local_indices& mine, std::int64_t size) {
    const std::vector<std::int64_t>& ghosts = mine.ghosts();
    const auto refuse = [&](std::size_t k, const std::string& what) {
        throw usage_error("index_map: rank " + to_string(rank) + ": ghost " + to_string(ghosts[k]) +
                          what);
    };
    for (std::size_t k = 0; k < ghosts.size(); ++k) {
        if (ghosts[k] < 0 || ghosts[k] >= size)
            refuse(k, ", must be 0 or more and below " + to_string(size));
        if (mine.owned().contains(ghosts[k])) refuse(k, " is owned by the rank itself");
        if (k > 0 && ghosts[k] <= ghosts[k - 1])
            refuse(k, " after " + to_string(ghosts[k - 1]) + ", ghosts must ascend");
    }
}

void check_local(const row_partition& owners, const std::vector<local_indices>& local) {
    check(owners, owners.rows());
    if (local.size() != as_size(owners.ranks()))
        throw usage_error("index_map: " + to_string(local.size()) + " sets of indices for " +
                          to_string(owners.ranks()) + " ranks");
    for (int rank = 0; rank < owners.ranks(); ++rank) {
        const local_indices& mine = local[as_size(rank)];
        if (mine.owned() != owners.owned(rank))
            throw usage_error("index_map: the indices of rank " + to_string(rank) + " own [" +
                              to_string(mine.owned().begin) + ", " + to_string(mine.owned().end) +
                              "), the partition says [" + to_string(owners.owned(rank).begin) +
                              ", " + to_string(owners.owned(rank).end) + ")");
        check_ghosts(rank, mine, owners.rows());
        if (mine.has_all() && mine.count() != owners.rows())
            throw usage_error("index_map: rank " + to_string(rank) + " has all of " +
                              to_string(mine.count()) + " entries, the partition has " +
                              to_string(owners.rows()));
        if (mine.count() > index_size_limit())
            throw input_error("index_map: rank " + to_string(rank) + " owns " +
                              to_string(mine.owned().size()) + " columns and references " +
                              to_string(mine.ghost_count()) +
                              " ghosts; local indices have 32 bits, so both together must be at "
                              "most " +
                              to_string(index_size_limit()) + ": use more devices");
    }
    const auto lists = std::ranges::count_if(
        local, [](const local_indices& one) { return !one.ghosts().empty(); });
    if (lists != 0 && std::ranges::any_of(local, &local_indices::has_all))
        throw usage_error("index_map: some ranks have all entries and others lists of ghosts; "
                          "allowed are lists of all that have ghosts, or no lists");
}

} // namespace

local_indices::local_indices(row_range owned, std::vector<std::int64_t> ghosts)
    : owned_(owned),
      below_(std::ranges::lower_bound(ghosts, owned.begin) - ghosts.begin()),
      ghost_count_(static_cast<std::int64_t>(ghosts.size())) {
    if (!ghosts.empty())
        ghosts_ = std::make_shared<const std::vector<std::int64_t>>(std::move(ghosts));
}

local_indices local_indices::all(row_range owned, std::int64_t size) {
    local_indices result(owned);
    result.below_ = owned.begin;
    result.ghost_count_ = size - owned.size();
    return result;
}

const std::vector<std::int64_t>& local_indices::ghosts() const noexcept {
    static const std::vector<std::int64_t> none;
    return ghosts_ ? *ghosts_ : none;
}

std::int64_t local_indices::global(std::int64_t local) const noexcept {
    if (has_all()) return local;
    const std::int64_t from_owned = local - below_;
    if (from_owned >= 0 && from_owned < owned_.size()) return owned_.begin + from_owned;
    return (*ghosts_)[as_size(place(local))];
}

std::int64_t local_indices::local(std::int64_t global) const noexcept {
    if (owned_.contains(global)) return below_ + global - owned_.begin;
    if (has_all()) return global >= 0 && global < count() ? global : -1;
    const auto at = std::ranges::lower_bound(ghosts(), global);
    if (at == ghosts().end() || *at != global) return -1;
    const std::int64_t number = at - ghosts().begin();
    return number < below_ ? number : number + owned_.size();
}

bool operator==(const local_indices& a, const local_indices& b) noexcept {
    return a.owned_ == b.owned_ && a.ghost_count_ == b.ghost_count_ && a.has_all() == b.has_all() &&
           (a.ghosts_ == b.ghosts_ || a.ghosts() == b.ghosts());
}

index_map::index_map(row_partition owners) : owners_(std::move(owners)) {
    for (int rank = 0; rank < owners_.ranks(); ++rank) local_.emplace_back(owners_.owned(rank));
    neighbours_.resize(local_.size());
    given_.resize(local_.size());
    check_local(owners_, local_);
}

index_map::index_map(row_partition owners, std::vector<local_indices> local)
    : owners_(std::move(owners)), local_(std::move(local)), given_(local_.size()) {
    check_local(owners_, local_);
    whole_ = std::ranges::any_of(local_, &local_indices::has_all);
    for (int rank = 0; rank < ranks(); ++rank) neighbours_.push_back(find_neighbours(rank));
    count_given();
}

index_map::index_map(const communicator& comm, row_partition owners,
                     std::vector<local_indices> local)
    : owners_(std::move(owners)), local_(std::move(local)), given_(local_.size()) {
    for (int rank = 0; rank < ranks() && as_size(ranks()) == local_.size(); ++rank)
        if (!comm.is_local(rank)) local_[as_size(rank)] = local_indices(owners_.owned(rank));
    check_local(owners_, local_);
    whole_ = comm.any(std::ranges::any_of(local_, &local_indices::has_all));
    neighbours_ = by_rank(comm, [&](int rank) { return find_neighbours(rank); });
    comm.all_gather_lists(neighbours_);
    count_given();
}

void index_map::count_given() {
    for (const auto& of_rank : neighbours_)
        for (const neighbour_ghosts& from : of_rank) given_[as_size(from.owner)] += from.count;
    for (std::size_t rank = 0; !whole_ && rank < given_.size(); ++rank)
        check_index_size("index_map: the number of entries that rank " + to_string(rank) +
                             " sends to all others",
                         given_[rank]); // lists of puts number them in 32 bits
}

const local_indices& index_map::local(int rank) const {
    if (rank < 0 || as_size(rank) >= local_.size())
        throw usage_error("index_map: rank is " + to_string(rank) +
                          ", must be 0 or more and below " + to_string(local_.size()));
    return local_[as_size(rank)];
}

bool index_map::any_ghosts() const noexcept {
    return std::ranges::any_of(neighbours_, [](const auto& of_rank) { return !of_rank.empty(); });
}

bool index_map::is_whole() const noexcept {
    return whole_;
}

const std::vector<neighbour_ghosts>& index_map::neighbours(int rank) const {
    (void)local(rank); // throws where there is none
    return neighbours_[as_size(rank)];
}

std::vector<neighbour_ghosts> index_map::find_neighbours(int rank) const {
    const local_indices& mine = local(rank);
    std::vector<neighbour_ghosts> result;
    if (mine.ghost_count() == 0) return result;
    const std::vector<std::int64_t>& ghosts = mine.ghosts();
    auto first = ghosts.begin();
    for (int owner = 0; owner < ranks(); ++owner) {
        const row_range theirs = owned(owner);
        if (owner == rank || theirs.size() == 0) continue;
        if (mine.has_all()) {
            result.push_back({owner, theirs.begin, theirs.size()});
            continue;
        }
        const auto last = std::lower_bound(first, ghosts.end(), theirs.end);
        if (first == last) continue;
        const std::int64_t place = first - ghosts.begin();
        const std::int64_t number =
            place < mine.first_owned() ? place : place + mine.owned().size();
        result.push_back({owner, number, last - first});
        first = last;
    }
    return result;
}

std::int64_t index_map::given(int rank) const {
    (void)local(rank); // throws where there is none
    return given_[as_size(rank)];
}

} // namespace krylith
