// The links over one communicator of the caller. They come and go by thousands, while MPI has few
// communicators: so they share duplicates of it, which are an attribute of it, and each link has
// tags of its own there.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <krylith/adapters/mpi/process_link.hpp>

namespace krylith::mpi {

/// Tags of a duplicate. Slot s has one for allgathers, and those from (s + 1) * posted_tags on for
/// posted messages.
constexpr int notice_tag = 0;
constexpr int creation_tag = 1;
constexpr int gather_tags = 2;
constexpr int posted_tags = 32768;
constexpr int most_slots = 64;

class link_family {
public:
    /// Collective: duplicates the communicator.
    explicit link_family(MPI_Comm comm) {
        check(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
        check(MPI_Comm_size(comm, &n_), "MPI_Comm_size");
        duplicate(comm);
        int* most = nullptr;
        int known = 0;
        check(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &known), "MPI_Comm_get_attr");
        const int blocks = known != 0 ? *most / posted_tags : 0; // beside the one of the others
        slots_ = std::min(blocks, most_slots);
        if (slots_ == 0)
            throw link_end{KRYLITH_LINK_FAILED, "MPI_TAG_UB is " +
                                                    std::to_string(known != 0 ? *most : 0) +
                                                    ", needed is at least 65535"};
    }
    link_family(const link_family&) = delete;
    link_family& operator=(const link_family&) = delete;

    [[nodiscard]] int rank() const noexcept { return rank_; }
    [[nodiscard]] int size() const noexcept { return n_; }

    /// Makes a link. Collective; throws link_end where others don't come within `seconds`.
    process_link& make(double seconds) {
        if (refused_)
            throw link_end{KRYLITH_LINK_FAILED,
                           "a link over this communicator could not be made before"};
        refused_ = true;
        const auto [duplicate, slot] = agree_on_slot(wait_pace(seconds));
        refused_ = false;
        duplicates_[duplicate].taken |= std::uint64_t{1} << slot;
        auto link = std::make_unique<process_link>();
        const auto n = static_cast<std::size_t>(n_);
        link->family = this;
        link->serial = made_++;
        link->duplicate = duplicate;
        link->slot = slot;
        link->comm = duplicates_[duplicate].comm;
        link->peers.resize(n);
        link->told.resize(n);
        link->telling.assign(n, MPI_REQUEST_NULL);
        process_link& result = *link;
        links_.emplace(result.serial, std::move(link));
        for (const auto& [from, notice] : std::exchange(early_, {})) take(from, notice);
        return result;
    }

    void end(process_link& link) const noexcept { link.end(notice_tag, rank_); }

    /// Takes in what other processes tell of their ends.
    void listen() {
        for (const shared& one : duplicates_) {
            for (;;) {
                int there = 0;
                MPI_Status status;
                check(MPI_Iprobe(MPI_ANY_SOURCE, notice_tag, one.comm, &there, &status),
                      "MPI_Iprobe");
                if (there == 0) break;
                end_notice notice;
                check(MPI_Recv(&notice, static_cast<int>(sizeof notice), MPI_BYTE,
                               status.MPI_SOURCE, notice_tag, one.comm, MPI_STATUS_IGNORE),
                      "MPI_Recv");
                take(status.MPI_SOURCE, notice);
            }
        }
    }

    /// Forgets the links that are over everywhere.
    void sweep() {
        std::erase_if(links_, [&](const auto& entry) {
            process_link& link = *entry.second;
            if (!link.destroyed || !link.is_over(rank_)) return false;
            link.posted.forget();
            duplicates_[link.duplicate].taken &= ~(std::uint64_t{1} << link.slot);
            return true;
        });
    }

    /// Whether a process has waited in vain, or MPI has failed here or there: then MPI_Finalize may
    /// never return.
    [[nodiscard]] bool is_broken() const noexcept { return broken_; }
    void set_broken() noexcept { broken_ = true; }

    /// Gives the duplicates back where all links have ended everywhere, for which it waits some
    /// seconds at most. Returns whether it has. Collective.
    bool close() {
        const auto alive = [](const auto& entry) { return !entry.second->destroyed; };
        if (std::ranges::any_of(links_, alive) || !settle()) return false;
        free_duplicates();
        return true;
    }

    /// Ends all links, and leaves those that tables still have to these. What is under way then
    /// stays in memory for good.
    void finalize() noexcept {
        bool over = false;
        try {
            for (auto& [serial, link] : links_) end(*link);
            over = settle();
            if (over) free_duplicates();
        } catch (const link_end&) { // there is nobody to tell
            over = false;
        }
        for (auto& [serial, link] : links_) {
            link->family = nullptr;
            link->kept = !over;
            (void)link.release(); // NOLINT(bugprone-unused-return-value)
        }
        links_.clear();
    }

private:
    struct shared {
        MPI_Comm comm = MPI_COMM_NULL;
        std::uint64_t taken = 0; ///< slots
    };

    /// Waits some seconds at most until all processes have ended all links, and receives what they
    /// have sent in vain, which MPI may take for an error. Returns whether nothing is under way
    /// then. Where a wait has been in vain before, others may never come.
    bool settle() {
        const auto ended = [&](const auto& entry) { return entry.second->all_have_ended(rank_); };
        const auto idle = [](const auto& entry) { return entry.second->idle(); };
        wait_pace pace(broken_ ? 0.5 : 5);
        bool all_ended = false;
        do {
            listen();
            sweep();
            all_ended = all_ended || std::ranges::all_of(links_, ended);
            if (all_ended && !drop_messages(pace)) return false;
            if (all_ended && std::ranges::all_of(links_, idle)) return true;
        } while (pace.next());
        return false;
    }

    /// Receives what nobody waits for. Returns false where it doesn't come.
    bool drop_messages(wait_pace& pace) {
        for (const shared& one : duplicates_) {
            for (;;) {
                int there = 0;
                int bytes = 0;
                MPI_Status status;
                check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, one.comm, &there, &status),
                      "MPI_Iprobe");
                if (there == 0) break;
                check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
                if (bytes == MPI_UNDEFINED) return false; // more than an int counts
                auto memory = std::make_unique<std::byte[]>(static_cast<std::size_t>(bytes));
                MPI_Request request = MPI_REQUEST_NULL;
                check(MPI_Irecv(memory.get(), bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG,
                                one.comm, &request),
                      "MPI_Irecv");
                while (!is_done(request))
                    if (!pace.next()) {
                        (void)memory.release(); // MPI may write there yet
                        return false;
                    }
            }
        }
        return true;
    }

    void free_duplicates() {
        for (shared& one : duplicates_) check(MPI_Comm_free(&one.comm), "MPI_Comm_free");
    }

    void duplicate(MPI_Comm comm) {
        shared one;
        check(MPI_Comm_dup(comm, &one.comm), "MPI_Comm_dup");
        duplicates_.push_back(one);
        check(MPI_Comm_set_errhandler(one.comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    }

    /// The first slot that is free in all processes. Where there is none, ends that are on their
    /// way are waited for a little, before there is another duplicate.
    std::pair<std::size_t, int> agree_on_slot(wait_pace pace) {
        const std::uint64_t all =
            slots_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << slots_) - 1;
        for (int attempt = 0; attempt < 50; ++attempt) {
            listen();
            sweep();
            std::vector<std::uint64_t> own{made_};
            for (const shared& one : duplicates_) own.push_back(~one.taken & all);
            std::vector<std::uint64_t> given = gather(own, pace);
            for (std::size_t k = 0; k < given.size(); k += own.size())
                if (given[k] != made_)
                    throw link_end{KRYLITH_LINK_FAILED,
                                   "the processes have not made the same links over the "
                                   "communicator, in the same order"};
            for (std::size_t d = 0; d < duplicates_.size(); ++d) {
                std::uint64_t free = all;
                for (std::size_t k = d + 1; k < given.size(); k += own.size()) free &= given[k];
                if (free != 0) return {d, std::countr_zero(free)};
            }
        }
        duplicate(duplicates_[0].comm);
        return {duplicates_.size() - 1, 0};
    }

    std::vector<std::uint64_t> gather(const std::vector<std::uint64_t>& own, wait_pace& pace) {
        std::vector<std::uint64_t> all(static_cast<std::size_t>(n_) * own.size());
        creation_.begin(duplicates_[0].comm, creation_tag, rank_, n_, own.data(),
                        own.size() * sizeof own[0]);
        while (!creation_.advance())
            if (!pace.next()) {
                set_broken();
                throw link_end{KRYLITH_LINK_TIMED_OUT, "not all processes of the communicator have "
                                                       "made a link over it in time"};
            }
        creation_.take(all.data());
        return all;
    }

    void take(int from, const end_notice& notice) {
        if (notice.broken != 0) set_broken();
        const auto at = links_.find(notice.serial);
        if (at != links_.end())
            at->second->take(from, notice);
        else if (notice.serial >= made_) // of a link that this process is about to make
            early_.emplace_back(from, notice);
    }

    int rank_ = 0;
    int n_ = 1;
    int slots_ = 0;
    std::vector<shared> duplicates_;
    std::map<std::uint64_t, std::unique_ptr<process_link>> links_; ///< by serial number
    std::vector<std::pair<int, end_notice>> early_;
    std::uint64_t made_ = 0;
    gathering creation_;
    bool refused_ = false; ///< making one has failed
    bool broken_ = false;
};

} // namespace krylith::mpi
