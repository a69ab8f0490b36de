#include <krylith/device/staging/staged_transfer.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <omp.h>

#include <krylith/device/host/host_team.hpp>
#include <krylith/device/host/host_threads.hpp>

namespace krylith {

namespace {

/// What travels at once: a part of one request that fits into a slot.
struct chunk {
    const staged_request* request;
    std::size_t lane;   ///< the place of its wire
    std::size_t number; ///< among the chunks of its wire
    std::size_t first;  ///< its first byte in the request
    std::size_t bytes;
};

/// The chunks of one wire, which pass through its slots in turn. The calling thread alone begins
/// and ends copies; the others look at `ready`.
struct lane {
    explicit lane(staging_wire* of) : wire(of) {}
    staging_wire* wire;
    std::size_t bytes = 0;                ///< of all requests
    std::vector<std::size_t> chunks = {}; ///< their places in the list of all
    std::size_t copied = 0; ///< chunks whose copy by the device was begun (upload: after the move)
    std::size_t moved = 0;  ///< chunks that all threads have moved, at a download
    std::atomic<std::size_t> ready = 0; ///< chunks that threads may move

    [[nodiscard]] int slot_of(std::size_t number) const {
        return static_cast<int>(number % static_cast<std::size_t>(wire->slots()));
    }
    [[nodiscard]] std::size_t slots() const { return static_cast<std::size_t>(wire->slots()); }

    /// A chunk fills a slot, or less where few bytes travel: threads and link then work side by
    /// side, too.
    [[nodiscard]] std::size_t chunk_bytes() const {
        constexpr std::size_t least = std::size_t{256} << 10; // 5 us on a link of 55 GB/s
        const std::size_t part = std::max(least, bytes / 8);
        return std::min(wire->slot_bytes(),
                        (part + staged_piece - 1) / staged_piece * staged_piece);
    }
};

/// The team of OpenMP for transfers, as far as OpenMP may have so many threads. It leaves cores to
/// the threads of ranks and of side tasks: a team looks for work for some 10 ms after its last
/// (gcc), and where it has all cores they get theirs late. A solve of 128^3 on two GPUs and 32
/// cores, from arrays in host memory, took 39 to 60 ms so, and 29 with a team of 24.
int transfer_team(std::size_t links) {
    const int cores = usable_cores();
    const int others = static_cast<int>(std::min<std::size_t>(links, 64)) + 2;
    return std::min(omp_get_max_threads(),
                    std::max({std::min(cores, 2), cores - others, cores * 3 / 4}));
}

class transfer {
public:
    transfer(std::span<const staged_request> requests, bool to_device) : to_device_(to_device) {
        for (const staged_request& r : requests) lanes_[lane_of(r.wire)]->bytes += r.bytes;
        for (const staged_request& r : requests) cut(r);
        interleave();
        moved_ = std::vector<std::atomic<std::size_t>>(chunks_.size());
    }

    void run(int threads) {
        if (order_.empty()) return;
        std::exception_ptr failure;
        // The team is almost as large as those of other loops: gcc's runtime ends threads when a
        // team is smaller than the last one, and starts them again for the next.
        const int team = threads > 1 ? std::max(threads, transfer_team(lanes_.size())) : 1;
        in_team(team, [&](int member, int) {
            if (member >= threads) return;
            if (member != 0) return work();
            try {
                drive();
            } catch (...) {
                failure = std::current_exception();
                stopped_.store(true, std::memory_order_release);
            }
        });
        if (failure) std::rethrow_exception(failure);
    }

private:
    enum class outcome { moved, not_ready, over };

    [[nodiscard]] std::size_t lane_of(staging_wire* wire) {
        std::size_t place = 0;
        while (place < lanes_.size() && lanes_[place]->wire != wire) ++place;
        if (place == lanes_.size()) lanes_.push_back(std::make_unique<lane>(wire));
        return place;
    }

    void cut(const staged_request& r) {
        const std::size_t place = lane_of(r.wire);
        lane& l = *lanes_[place];
        const std::size_t most = l.chunk_bytes();
        pieces_ = std::max(pieces_, (most + staged_piece - 1) / staged_piece);
        for (std::size_t first = 0; first < r.bytes; first += most) {
            chunks_.push_back({&r, place, l.chunks.size(), first, std::min(most, r.bytes - first)});
            l.chunks.push_back(chunks_.size() - 1);
        }
    }

    /// Threads take chunks of the wires in turn, so that all links are busy.
    void interleave() {
        order_.reserve(chunks_.size());
        for (std::size_t number = 0; order_.size() < chunks_.size(); ++number)
            for (const auto& l : lanes_)
                if (number < l->chunks.size()) order_.push_back(l->chunks[number]);
    }

    /// Moves the next piece that nobody has taken, if its slot is ready.
    outcome move_a_piece() {
        std::size_t ticket = next_.load(std::memory_order_relaxed);
        for (;;) {
            if (ticket >= order_.size() * pieces_) return outcome::over;
            const std::size_t place = order_[ticket / pieces_];
            const chunk& c = chunks_[place];
            const lane& l = *lanes_[c.lane];
            if (l.ready.load(std::memory_order_acquire) <= c.number) return outcome::not_ready;
            if (!next_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_relaxed))
                continue;
            const std::size_t begin = ticket % pieces_ * staged_piece;
            if (begin >= c.bytes) {
                ++ticket;
                continue;
            }
            const std::size_t count = std::min(staged_piece, c.bytes - begin);
            c.request->move(l.wire->slot(l.slot_of(c.number)) + begin, c.first + begin, count);
            moved_[place].fetch_add(count, std::memory_order_release);
            return outcome::moved;
        }
    }

    void work() {
        for (int idle = 0; !stopped_.load(std::memory_order_acquire);) {
            const outcome o = move_a_piece();
            if (o == outcome::over) return;
            idle = o == outcome::moved ? 0 : idle + 1;
            if (idle > 1000) std::this_thread::yield();
        }
    }

    void drive() {
        for (int idle = 0;;) {
            bool over = true;
            for (const auto& l : lanes_) over = (to_device_ ? fill(*l) : drain(*l)) && over;
            if (over) return;
            idle = move_a_piece() == outcome::moved ? 0 : idle + 1;
            if (idle > 1000) std::this_thread::yield();
        }
    }

    [[nodiscard]] bool all_moved(const lane& l, std::size_t number) const {
        const std::size_t place = l.chunks[number];
        return moved_[place].load(std::memory_order_acquire) == chunks_[place].bytes;
    }

    /// Sends slots that are full, and hands out slots that are free. Returns whether all is sent.
    bool fill(lane& l) {
        std::size_t ready = l.ready.load(std::memory_order_relaxed);
        for (; l.copied < ready && all_moved(l, l.copied); ++l.copied) {
            const chunk& c = chunks_[l.chunks[l.copied]];
            l.wire->send(l.slot_of(l.copied), c.request->on_device + c.first, c.bytes);
        }
        while (ready < l.chunks.size() && ready < l.copied + l.slots() &&
               l.wire->idle(l.slot_of(ready)))
            l.ready.store(++ready, std::memory_order_release);
        return l.copied == l.chunks.size();
    }

    /// Hands out slots that have arrived, and fetches into those that are free. Returns whether all
    /// is in host memory.
    bool drain(lane& l) {
        std::size_t ready = l.ready.load(std::memory_order_relaxed);
        while (l.moved < ready && all_moved(l, l.moved)) ++l.moved;
        for (; l.copied < l.chunks.size() && l.copied < l.moved + l.slots(); ++l.copied) {
            const chunk& c = chunks_[l.chunks[l.copied]];
            l.wire->fetch(l.slot_of(l.copied), c.request->on_device + c.first, c.bytes);
        }
        while (ready < l.copied && l.wire->idle(l.slot_of(ready)))
            l.ready.store(++ready, std::memory_order_release);
        return l.moved == l.chunks.size();
    }

    bool to_device_;
    std::vector<chunk> chunks_;
    std::vector<std::unique_ptr<lane>> lanes_;
    std::vector<std::size_t> order_; ///< chunks, in the order in which threads take them
    std::size_t pieces_ = 1;         ///< tickets a chunk
    std::vector<std::atomic<std::size_t>> moved_; ///< bytes of each chunk
    std::atomic<std::size_t> next_ = 0;           ///< the next ticket
    std::atomic<bool> stopped_ = false;
};

} // namespace

int staging_threads(std::size_t links, int a_link) noexcept {
    if (omp_in_parallel() != 0) return 1;
    const int most = a_link * static_cast<int>(std::clamp<std::size_t>(links, 1, 64));
    return std::max(1, std::min(transfer_team(links), most));
}

namespace {

/// The turns of all wires, taken in one order by everybody.
std::vector<std::unique_lock<std::mutex>> take_turns(std::span<const staged_request> requests) {
    std::set<staging_wire*> wires;
    for (const staged_request& r : requests) wires.insert(r.wire);
    std::vector<std::unique_lock<std::mutex>> turns;
    for (staging_wire* const wire : wires) turns.emplace_back(wire->turn());
    return turns;
}

} // namespace

void staged_upload(std::span<const staged_request> requests, int threads) {
    const auto turns = take_turns(requests);
    transfer(requests, true).run(threads);
}

void staged_download(std::span<const staged_request> requests, int threads) {
    const auto turns = take_turns(requests);
    transfer(requests, false).run(threads);
}

} // namespace krylith
