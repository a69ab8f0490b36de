// The recording of one solve: device scalars, reductions under way, and the loop.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/host/group_driver.hpp>
#include <krylith/vector/execution/kernel_context.hpp>
#include <krylith/vector/execution/loop_watch.hpp>
#include <krylith/vector/execution/program_recorder.hpp>
#include <krylith/vector/execution/register_post.hpp>

namespace krylith {

enum class execution_mode {
    automatic, ///< recorded where the group is concurrent, else eager; the environment variable
               ///< KRYLITH_EXECUTION=eager makes it eager (compute-sanitizer knows no graph loops)
    recorded,  ///< one launch a device: the devices repeat the recorded iterations by themselves
    eager      ///< each operation is enqueued by the host, which reads the stop test now and then
};

inline constexpr double longest_timeout = 1e9; ///< seconds, which nanoseconds of 64 bits hold

/// Returns what execution_mode::automatic stands for on this group: recorded or eager.
[[nodiscard]] execution_mode automatic_mode(const communicator& comm);

struct execution_options {
    execution_mode mode = execution_mode::automatic;
    int unroll = 16;               ///< iterations recorded in one trip of the loop
    double timeout_seconds = 20;   ///< how long a device waits for a peer before all give up; at
                                   ///< most longest_timeout. A process that is stopped doesn't wait
    int largest_batch = 8;         ///< most values that one kernel reduces
    std::int64_t array_size = 0;   ///< scalars addressed by index
    std::int64_t history_size = 0; ///< how many of the last squared residual norms history() can
                                   ///< give, at least 1024
    bool coefficients = false;     ///< keep what test_residual(rr, alpha, beta) is given, too
};

/// Values of the control registers after the loop (the same on every device).
struct loop_report {
    loop_state state = loop_state::running;
    std::int64_t iterations = 0;
    double residual = 0; ///< squared residual norm last tested
};

/// The squared residual norm of an iteration, as a running loop has posted it.
struct loop_post {
    std::int64_t iteration;
    double residual;
};

/// What the host does while a loop runs.
struct loop_watcher {
    std::int64_t from; ///< iterations finished before
    /// Gets the iterations since the last call, often none; returns whether the loop is to stop.
    /// The caller of repeat() calls it each time that a trip has been posted, and a few thousand
    /// times a second in between. Iterations are missing only where a call takes longer than the
    /// loop needs for loop_posts of them. What it throws stops the loop, and is thrown when that
    /// has ended.
    std::function<bool(std::span<const loop_post>)> look;
};

struct rank_memory;
class posted_routes;
class posted_sums;

/// Records scalar arithmetic and hands it to the next kernel as a kernel context. Everything is
/// done for all ranks alike, so that all take the same decisions. Not thread-safe; one solve at a
/// time.
class execution {
public:
    execution(communicator comm, const execution_options& options);
    execution(const execution&) = delete;
    execution& operator=(const execution&) = delete;
    ~execution();

    [[nodiscard]] const communicator& comm() const noexcept { return comm_; }
    [[nodiscard]] int ranks() const noexcept { return comm_.ranks(); }
    /// Gives up the right to drive the group, which an execution has from its beginning on. Whoever
    /// uses it afterwards holds a group_driver.
    void rest() noexcept { driver_.reset(); }
    [[nodiscard]] execution_mode mode() const noexcept { return mode_; }
    /// Differs between any two executions of the process, and before and after forget_recording();
    /// never 0.
    [[nodiscard]] std::uint64_t identity() const noexcept { return identity_; }
    /// True while events, not spinning kernels, order what crosses devices: always but in a
    /// recorded loop, so that no kernel waits for one that the host has yet to launch.
    [[nodiscard]] bool ordered() const noexcept { return !recording_; }

    // --- scalars -----------------------------------------------------------------------------
    // These functions call those of program_recorder, which says what they do.
    [[nodiscard]] std::uint8_t new_register() { return scalars_.new_register(); }
    [[nodiscard]] std::uint8_t temporary() { return scalars_.temporary(); }
    [[nodiscard]] std::uint8_t constant(double value) { return scalars_.constant(value); }
    void record(scalar_opcode code, std::uint8_t to, std::uint8_t a, std::uint8_t b) {
        scalars_.record(code, to, a, b);
    }
    void assign(std::uint8_t to, std::uint8_t from) { scalars_.assign(to, from); }
    void take(std::uint8_t to, std::uint8_t from) { scalars_.take(to, from); }

    /// Returns a register that follows a number of the host: the loop has the number's value at the
    /// time of repeat(), recorded or not. For what a recording would otherwise contain as a
    /// constant.
    [[nodiscard]] std::uint8_t follow(const std::shared_ptr<const double>& number);

    // --- kernels -----------------------------------------------------------------------------
    /// Begins one operation on all ranks: takes the pending arithmetic and the `used` registers,
    /// whose values the kernel needs. Call at(rank) next for the kernel context of each rank.
    void open(std::span<const std::uint8_t> used) { open(used, kernel_program_bytes); }
    /// Begins an operation whose kernel takes a program of any length, and leaves new values of
    /// `registers` itself, when it ends and no block reads them any more: slots[i] is the place in
    /// kernel_context::slots of registers[i].
    void open(std::span<const std::uint8_t> registers, std::span<std::uint8_t> slots);
    [[nodiscard]] const kernel_context& at(int rank) const {
        return contexts_[static_cast<std::size_t>(rank)];
    }
    /// The kernel just opened reduces into these registers, or into these places of the array: one
    /// batch.
    void publish(std::span<const std::uint8_t> registers);
    void publish_array(int first, int count);
    /// The place where the kernel of `rank` leaves its partial sums; count is 0 unless publish was
    /// called since open.
    [[nodiscard]] reduction partials(int rank) const;
    /// Ends the operation. Where the transport is staged it also copies what was published to the
    /// peers.
    void close();
    /// The next kernel, whichever it is, waits for these data of peers.
    void expect(const std::vector<put_signal>& signals);
    /// Orders what follows on any device after what was enqueued on all. Does nothing unless
    /// ordered().
    void join_if_ordered();
    /// The same for the operation just opened, of which nothing has been enqueued: without another
    /// join where open() has ordered it after all devices, since two in a row cost twice.
    void join_opened();
    /// Runs pending arithmetic in a kernel of its own, so that nothing is left pending or under
    /// way.
    void flush();
    /// Where a kernel that is a whole loop finds out what the host wants (loop_watch.hpp).
    [[nodiscard]] loop_watch* watch(int rank) const;
    /// Operations recorded inside `body` run although the loop has stopped.
    void unguarded(const std::function<void()>& body);

    /// Runs `task` on the array in a kernel of its own (scalar/array_task.hpp); `registers[role]`
    /// are its scalars. Pending arithmetic runs before it.
    template <class Task>
    void compute(Task task, std::span<const std::uint8_t> registers);

    // --- loop --------------------------------------------------------------------------------
    /// Sets a register on all devices, also after the loop has stopped: at the next repeat(), get()
    /// or unguarded kernel.
    void set(std::uint8_t reg, double value);
    /// Waits for the devices; throws communication_error after a time-out.
    [[nodiscard]] double get(std::uint8_t reg);
    /// Enqueues what read() waits for: the values that at most most_posted registers then have.
    void post(std::initializer_list<std::uint8_t> regs);
    /// Waits for the devices; returns the values that the last post() named. Throws
    /// communication_error after a time-out.
    [[nodiscard]] std::vector<double> read();
    /// The values of several registers, at the price of one: post() and read().
    [[nodiscard]] std::vector<double> get(std::initializer_list<std::uint8_t> regs);
    /// Records `body` for repeat(), which otherwise does so itself at its first call.
    void prepare(const std::function<void()>& body);
    /// Whether repeat() has a recording.
    [[nodiscard]] bool has_recording() const;
    /// Drops the recording, so that repeat() makes another, of other things. Registers that were
    /// made after keep_registers() are free again.
    void forget_recording();
    /// Keeps the registers made so far through forget_recording().
    void keep_registers() { scalars_.keep_registers(); }
    /// Repeats `body` (recorded, unless eager) until the state is not running. May be called again
    /// to go on: the recording is kept.
    [[nodiscard]] loop_report repeat(const std::function<void()>& body);
    /// Launches the loop and doesn't wait: what is enqueued next comes after it. In eager execution
    /// the body must be a whole loop, and the state of the last one running: its kernel takes the
    /// pending arithmetic.
    void launch(const std::function<void()>& body);
    /// The same, watched: the devices don't wait for the host. Where `look` says stop, the loop
    /// ends with loop_state::stopped, in eager execution at the end of the trip, else at the end of
    /// the next, on several devices of the one after it.
    [[nodiscard]] loop_report repeat(const std::function<void()>& body,
                                     const loop_watcher& watcher);
    /// Waits, after a failure, until no device works for this execution any more, so that memory
    /// which kernels of others write may be freed. Failures of devices are not reported again.
    void quiesce() noexcept;
    /// The squared residual norms of iterations first..end-1, which are among the last
    /// execution_options::history_size.
    [[nodiscard]] std::vector<double> history(std::int64_t end, std::int64_t first = 0);
    /// The values given to test_residual(rr, alpha, beta) in iterations first..end-1, where they
    /// are kept; first is 1 or more.
    struct recorded_coefficients {
        std::vector<double> alpha;
        std::vector<double> beta;
    };
    [[nodiscard]] recorded_coefficients coefficients(std::int64_t end, std::int64_t first = 1);
    void set_history(std::int64_t iteration, double value);

private:
    [[nodiscard]] static std::uint64_t next_identity();
    [[nodiscard]] rank_memory& memory(int rank) const {
        return *memory_[static_cast<std::size_t>(rank)];
    }
    /// What all ranks have alike is read from the first local one.
    [[nodiscard]] int first() const { return comm_.first_local(); }
    /// One number of each of the iterations from..end-1.
    [[nodiscard]] std::vector<double> recorded(int plane, std::int64_t from, std::int64_t end);
    /// Runs what is pending in a kernel of one thread and leaves each register in the given place.
    void settle(const register_places& closing);
    /// Begins an operation whose kernel takes a program of at most so many bytes.
    void open(std::span<const std::uint8_t> used, int program_bytes);
    void serve_posted();
    /// Gives the next kernel its program and what it waits for.
    void fill_contexts(scalar_program program);
    /// Enqueues the scalars kernel with the kernel context of the rank.
    void enqueue_scalars(int rank, std::uint64_t condition, const trip_end& end = {},
                         const register_post& post = {});
    /// Enqueues the kernel that ends a trip. It leaves the registers in the given places.
    void end_trip(const register_places& closing, bool decides);
    /// Whether peers have yet to send what the next kernel adds up or reads.
    [[nodiscard]] bool awaited() const;
    void join_if_awaited();
    void record_iteration(const std::function<void()>& body);
    void record_trip(const std::function<void()>& body);
    [[nodiscard]] bool pending() const;
    [[nodiscard]] loop_report report();
    [[nodiscard]] loop_report repeat_eagerly(const std::function<void()>& body);
    [[nodiscard]] loop_report repeat_recorded(const std::function<void()>& body);
    void launch_recording(const std::function<void()>& body);
    /// Makes what launches are watched with, at the first such launch.
    void make_board();
    /// Makes the routes of orders and stop words; `orders` of other machines become outboxes.
    [[nodiscard]] std::unique_ptr<posted_routes> post_orders(std::vector<stamped_value*>& orders,
                                                             loop_board& board);
    void begin_watched_launch();
    /// Waits until the launch under way has ended, and calls `look` meanwhile.
    void await_launch();
    [[nodiscard]] bool launch_has_ended();
    /// Calls `look` with what has been posted. Returns what it returns.
    [[nodiscard]] bool look();
    /// Makes the devices end the launch under way.
    void tell_to_stop();

    communicator comm_;
    execution_options options_;
    execution_mode mode_;
    std::uint64_t identity_;
    std::optional<group_driver> driver_; // before memory_: before anything is enqueued
    bool recording_ = false;
    bool guarded_ = true;
    std::unique_ptr<posted_sums> posted_sums_;         // null where all ranks are on one machine
    std::vector<std::unique_ptr<rank_memory>> memory_; // [ranks], as the next two
    std::vector<stamped_value*> peer_slots_;           // of all ranks
    std::vector<kernel_context> contexts_;

    program_recorder scalars_;        // arithmetic that waits for the next kernel
    register_places recorded_places_; // at the start of the recorded loop

    // The reduction under way, and the one that the open kernel will publish.
    int batch_ = 0;
    int batch_array_ = -1;
    int half_ = 0; // of the partial sums: that of the latest batch
    std::vector<std::uint8_t> batch_registers_;
    bool publishing_ = false;
    bool opened_joined_ = false; // whether open() has joined the devices
    std::size_t posted_ = 0;     // registers, by the last post()

    // The launch that is watched.
    const loop_watcher* watcher_ = nullptr;
    std::uint64_t launch_ = 0;
    std::int64_t seen_ = 0; // the last iteration that `look` knows
    std::vector<loop_post> posts_;
    std::uint64_t* stop_word_ = nullptr;            // loop_board::order of rank 0's driver
    std::unique_ptr<posted_routes> stop_routes_;    // of orders and stop words between machines
    std::vector<std::vector<put_signal>> expected_; // [ranks]

    struct followed_number {
        std::shared_ptr<const double> number;
        std::uint8_t reg;
        double value; ///< of the register
    };
    void set_followed();
    std::vector<followed_number> followed_;
};

} // namespace krylith
