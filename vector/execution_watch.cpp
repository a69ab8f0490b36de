// Loops that the host watches: what it does while the devices repeat the body.
#include <krylith/vector/execution.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

#include <krylith/comm/carrier/message_carrier.hpp>
#include <krylith/comm/channel/posted_routes.hpp>
#include <krylith/device/words/host_block.hpp>
#include <krylith/vector/execution/execution_memory.hpp>

namespace krylith {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// How often the host looks at least, and asks devices whether they have failed.
constexpr milliseconds longest_pause{1};
/// How often it looks at most while a CUDA loop runs.
constexpr microseconds shortest_pause{20};

std::uint64_t load(std::uint64_t& word, std::memory_order order) {
    return std::atomic_ref(word).load(order);
}

/// A post with its stamp. The stamp is read before and after: the post may be replaced meanwhile.
bool read_post(stamped_value& post, std::uint64_t stamp, double& value) {
    if (load(post.epoch, std::memory_order_acquire) != stamp) return false;
    value = std::atomic_ref(post.value).load(std::memory_order_acquire);
    return load(post.epoch, std::memory_order_relaxed) == stamp;
}

} // namespace

loop_report execution::repeat(const std::function<void()>& body, const loop_watcher& watcher) {
    make_board();
    watcher_ = &watcher;
    seen_ = watcher.from;
    set(control::posted, static_cast<double>(watcher.from));
    const auto forget = [&] {
        watcher_ = nullptr;
        set(control::watched, 0);
    };
    loop_report end;
    try {
        end = repeat(body);
    } catch (...) {
        tell_to_stop(); // `look` may have thrown while the devices work
        quiesce();
        forget();
        throw;
    }
    forget();
    return end;
}

loop_watch* execution::watch(int rank) const {
    return memory(rank).watch.data();
}

void execution::make_board() {
    auto& board = memory(first()).board;
    if (board != nullptr) return;
    auto made = std::make_unique<loop_board_memory>(comm_.handle(first()));
    const auto own =
        by_rank(comm_, [&](int rank) -> stamped_value* { return watch(rank)->own_orders; });
    auto orders = comm_.addresses(std::span(own));
    std::vector<std::uint64_t*> words(orders.size());
    words[static_cast<std::size_t>(first())] = &made->board().order;
    stop_word_ = comm_.addresses(std::span<std::uint64_t* const>(words)).front();
    std::unique_ptr<posted_routes> routes;
    if (comm_.carrier() != nullptr) routes = post_orders(orders, made->board());
    for (const int rank : comm_.local()) {
        loop_watch watch{};
        watch.orders = comm_.path(0, rank) == peer_path::posted
                           ? made->board().carried_orders
                           : own[static_cast<std::size_t>(rank)];
        if (rank == first()) {
            watch.board = &made->board();
            watch.bell = made->bell();
        }
        if (rank == 0) std::ranges::copy(orders, watch.peer_orders);
        memory(rank).watch.upload(std::span(&watch, 1));
    }
    stop_routes_ = std::move(routes);
    board = std::move(made);
    comm_.synchronize_all(); // peers write into it only after it is filled
}

/// Orders of rank 0, and the words by which hosts stop it, go to and from other machines by routes.
std::unique_ptr<posted_routes> execution::post_orders(std::vector<stamped_value*>& orders,
                                                      loop_board& board) {
    auto routes = std::make_unique<posted_routes>(comm_);
    constexpr std::uint32_t stop_kind = 2; // orders have that of their place
    const auto word_at = [](const std::shared_ptr<std::byte>& block, std::size_t offset) {
        return std::shared_ptr<std::uint64_t>(
            block, reinterpret_cast<std::uint64_t*>(block.get() + offset));
    };
    for (int rank = 1; rank < ranks(); ++rank) {
        if (comm_.driver_of(rank) == comm_.driver_of(0)) continue;
        if (comm_.driver_of(rank) == comm_.driver_of(rank - 1)) { // ranks of a driver share them
            orders[static_cast<std::size_t>(rank)] = orders[static_cast<std::size_t>(rank - 1)];
            continue;
        }
        if (comm_.is_local(0)) {
            const auto block = make_host_block(comm_.handle(0), 2 * sizeof(stamped_value));
            orders[static_cast<std::size_t>(rank)] = reinterpret_cast<stamped_value*>(block.get());
            for (std::uint32_t k = 0; k < 2; ++k) {
                const std::size_t at = k * sizeof(stamped_value);
                const std::shared_ptr<std::byte> value(block, block.get() + at);
                routes->add(posted_routes::outgoing{
                    0, rank, k, word_at(block, at + offsetof(stamped_value, epoch)), value,
                    sizeof(double)});
            }
            routes->add(
                posted_routes::incoming{rank, 0, stop_kind, &board.order, nullptr, 0, true, true});
        }
        if (!comm_.is_local(rank)) continue;
        for (std::uint32_t k = 0; k < 2; ++k) {
            stamped_value* const order = board.carried_orders + k;
            routes->add(posted_routes::incoming{0, rank, k, &order->epoch,
                                                reinterpret_cast<std::byte*>(&order->value),
                                                sizeof(double), true});
        }
    }
    if (comm_.is_local(0)) return routes;
    const auto word = word_at(make_host_block(comm_.handle(first()), sizeof(std::uint64_t)), 0);
    stop_word_ = word.get();
    routes->add(posted_routes::outgoing{first(), 0, stop_kind, word});
    return routes;
}

void execution::tell_to_stop() {
    if (stop_word_ != nullptr)
        std::atomic_ref(*stop_word_).store(launch_, std::memory_order_relaxed);
}

void execution::end_trip(const register_places& closing, bool decides) {
    for (const auto reg : {control::state, control::iteration, control::watched, control::posted})
        scalars_.need(reg);
    join_if_awaited();
    fill_contexts(scalars_.finish(closing));
    for (const int rank : comm_.local()) {
        rank_memory& m = memory(rank);
        trip_end end;
        end.watch = m.watch.data();
        end.decides = decides;
        end.state_slot = scalars_.slot(control::state);
        end.posted_slot = scalars_.slot(control::posted);
        enqueue_scalars(rank, decides ? m.loop->condition() : 0, end);
    }
}

void execution::begin_watched_launch() {
    launch_ = launch_ % 0xffffffffu + 1; // posts have 32 bits for it
    set(control::watched, static_cast<double>(launch_));
}

bool execution::launch_has_ended() {
    if (load(memory(first()).board->board().ended, std::memory_order_acquire) == launch_)
        return true;
    for (const int rank : comm_.local())
        if (!comm_[rank].idle()) return false;
    return true; // a device has failed, or the loop ended without a word
}

void execution::await_launch() {
    if (watcher_ == nullptr) return;
    using clock = std::chrono::steady_clock;
    loop_board_memory& shared = *memory(first()).board;
    loop_board& board = shared.board();
    const auto ended = [&] { return load(board.ended, std::memory_order_acquire) == launch_; };
    for (;;) {
        if (look()) tell_to_stop();
        if (message_carrier* const carrier = comm_.carrier(); carrier != nullptr) {
            constexpr int calls_a_look = 16;
            for (int k = 0; k < calls_a_look && !ended(); ++k) carrier->carry();
            if (comm_.kind() == backend::host) std::this_thread::yield(); // it may need this core
            if (!launch_has_ended()) continue;
            carrier->carry(); // what came last
            return;
        }
        if (loop_bell* const bell = shared.bell(); bell != nullptr) {
            std::unique_lock lock(bell->lock);
            (void)bell->rings.wait_for(lock, longest_pause, [&] { return bell->rung || ended(); });
            bell->rung = false;
        } else {
            const auto until = clock::now() + shortest_pause;
            while (!ended() && clock::now() < until) {
            }
        }
        if (ended()) return;
        if (launch_has_ended()) return;
    }
}

bool execution::look() {
    if (watcher_ == nullptr) return false;
    loop_board& board = memory(first()).board->board();
    posts_.clear();
    for (;; ++seen_) {
        const auto next = static_cast<std::uint64_t>(seen_) + 1;
        stamped_value& post = board.posts[next % loop_posts];
        double residual = 0;
        if (read_post(post, post_stamp(launch_, next), residual)) {
            posts_.push_back({seen_ + 1, residual});
            continue;
        }
        // A newer one in its place: the host is far behind, and goes on from there.
        const std::uint64_t stamp = load(post.epoch, std::memory_order_acquire);
        const auto ahead = static_cast<std::uint32_t>(stamp - next);
        if (stamp >> 32 != launch_ || ahead == 0 || ahead >= 1u << 31) break;
        seen_ += ahead - 1;
    }
    return watcher_->look(posts_);
}

} // namespace krylith
