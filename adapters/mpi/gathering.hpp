// An allgather of messages between two processes each. MPI_Iallgather can't be given up, and where
// a process leaves one out, those of all links over the communicator no longer fit together; these
// messages carry the link's own tag.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include <krylith/adapters/mpi/mpi_calls.hpp>

namespace krylith::mpi {

/// Bruck's algorithm: log2(n) rounds, and each process receives (n - 1) * bytes. What MPI reads and
/// writes is memory of its own, which must live until idle().
class gathering {
public:
    void begin(MPI_Comm comm, int tag, int rank, int n, const void* own, std::size_t bytes) {
        comm_ = comm;
        tag_ = tag;
        rank_ = rank;
        n_ = n;
        bytes_ = bytes;
        round_ = 0;
        const auto all = static_cast<std::size_t>(n) * bytes;
        if (blocks_.size() < all) blocks_.resize(all);
        if (bytes != 0) std::memcpy(blocks_.data(), own, bytes);
        receives_.clear();
        sends_.clear();
        for (int near = 1; near < n; near *= 2) {
            const byte_count count(bytes_ * blocks_of(near));
            MPI_Request& request = receives_.emplace_back(MPI_REQUEST_NULL);
            check(MPI_Irecv(blocks_.data() + static_cast<std::size_t>(near) * bytes_, count.count(),
                            count.type(), (rank + near) % n, tag, comm, &request),
                  "MPI_Irecv");
        }
        send();
    }

    /// Moves on. Returns whether all is there, and nothing of this process is under way.
    [[nodiscard]] bool advance() {
        while (round_ < receives_.size()) {
            if (!is_done(receives_[round_])) return false;
            ++round_;
            send();
        }
        return std::ranges::all_of(sends_, is_done);
    }

    /// The bytes of each process, by rank. After advance() has returned true.
    void take(void* all) {
        const auto after =
            static_cast<std::size_t>(n_ - rank_) * bytes_; // those of rank_ to n_ - 1
        const auto before = static_cast<std::size_t>(rank_) * bytes_;
        if (bytes_ != 0) {
            std::memcpy(static_cast<std::byte*>(all) + before, blocks_.data(), after);
            std::memcpy(all, blocks_.data() + after, before);
        }
        constexpr std::size_t kept = std::size_t{1} << 20;
        if (blocks_.size() > kept) blocks_ = {};
    }

    /// Gives up what has not begun to arrive. Throws nothing.
    void cancel() noexcept {
        for (MPI_Request& request : receives_)
            if (request != MPI_REQUEST_NULL) MPI_Cancel(&request);
    }
    /// Whether MPI has nothing more to do with the memory of this.
    [[nodiscard]] bool idle() {
        return std::ranges::all_of(receives_, is_done) && std::ranges::all_of(sends_, is_done);
    }

private:
    [[nodiscard]] std::size_t blocks_of(int near) const {
        return static_cast<std::size_t>(std::min(near, n_ - near));
    }

    /// Gives the blocks that are there to the process that lacks them, in the round that begins.
    void send() {
        if (round_ == receives_.size()) return;
        const int near = 1 << round_;
        const byte_count count(bytes_ * blocks_of(near));
        MPI_Request& request = sends_.emplace_back(MPI_REQUEST_NULL);
        check(MPI_Isend(blocks_.data(), count.count(), count.type(), (rank_ - near + n_) % n_, tag_,
                        comm_, &request),
              "MPI_Isend");
    }

    MPI_Comm comm_ = MPI_COMM_NULL;
    int tag_ = 0;
    int rank_ = 0;
    int n_ = 1;
    std::size_t bytes_ = 0;
    std::vector<std::byte> blocks_; ///< the k-th is that of the process k places behind this one
    std::vector<MPI_Request> receives_;
    std::vector<MPI_Request> sends_;
    std::size_t round_ = 0;
};

} // namespace krylith::mpi
