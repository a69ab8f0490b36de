// How the drivers of one communicator talk to each other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <krylith/comm/link.h>
#include <krylith/device/language/cxx20.hpp>

namespace krylith {

/// A driver's end of a link. It carries what hosts must know of each other while things are made;
/// loops on the devices use it between machines only (comm/carrier). All throw communication_error
/// where a driver has ended, or doesn't call in time; so do all later calls. Whoever destroys its
/// end has ended for the others.
class driver_link {
public:
    /// Takes a table over, also where it throws. A driver waits for the others `timeout_seconds` at
    /// most; infinity is allowed. Throws usage_error for a table of another version, and unless
    /// timeout_seconds > 0.
    explicit driver_link(const krylith_link& table, double timeout_seconds = 600);
    driver_link(const driver_link&) = delete;
    driver_link& operator=(const driver_link&) = delete;
    ~driver_link();

    [[nodiscard]] int drivers() const noexcept { return table_.n; }
    /// The number of this one, from 0.
    [[nodiscard]] int driver() const noexcept { return table_.rank; }
    [[nodiscard]] double timeout_seconds() const noexcept { return timeout_seconds_; }
    /// Gives bytes to all drivers, which may give different numbers of them, and returns those of
    /// each. Waits for all of them. Few bytes (48) take one exchange of the table, more take two.
    /// `most_seconds` is a shorter time to wait for them.
    [[nodiscard]] std::vector<std::vector<std::byte>>
    all_gather(const std::vector<std::byte>& given,
               double most_seconds = std::numeric_limits<double>::infinity());
    /// Gives given[k] to driver k, and returns what each has given this one, in `received`, of
    /// which received[k] has as many bytes as come from driver k. Waits for the drivers that
    /// something comes from.
    [[nodiscard]] std::vector<std::vector<std::byte>>
    all_to_all(std::vector<std::vector<std::byte>> given,
               std::vector<std::vector<std::byte>> received);

    /// Begins to send bytes to another driver, or to receive them, by krylith_link::post and
    /// receive; the memory is left alone until done() says so.
    [[nodiscard]] void* post(int driver, int tag, const void* bytes, std::size_t size);
    [[nodiscard]] void* receive(int driver, int tag, void* place, std::size_t size);
    /// Whether a request of these two is done; it is gone then. Doesn't wait.
    [[nodiscard]] bool done(void* request);
    /// Returns the first of `count` tags for post() and receive() that nobody has had. All drivers
    /// ask alike. Throws usage_error where there are no more.
    [[nodiscard]] int take_tags(int count);
    /// Keeps memory that messages under way may use until the table is destroyed.
    void keep(std::shared_ptr<const void> memory) { kept_.push_back(std::move(memory)); }

private:
    void check(int status, double seconds);
    void exchange(std::vector<std::vector<std::byte>>& given,
                  std::vector<std::vector<std::byte>>& received);

    krylith_link table_;
    double timeout_seconds_;
    std::atomic<int> failed_ = KRYLITH_LINK_DONE;   ///< the status since which nothing is called
    std::vector<std::vector<std::byte>> left_over_; ///< memory of messages that were not done
    std::vector<std::shared_ptr<const void>> kept_;
    int next_tag_ = 1; ///< 0 is that of all_to_all()
};

/// Makes the links of threads of this process: the k-th for the thread that is driver k. A thread
/// that destroys its link has ended for the others. Throws usage_error for fewer than one thread,
/// and unless timeout_seconds > 0.
[[nodiscard]] std::vector<std::shared_ptr<driver_link>> link_threads(int threads,
                                                                     double timeout_seconds = 600);

/// Links the processes of MPI_COMM_WORLD, where mpirun, mpiexec or srun has started this one with
/// others: process k is driver k. Null where it runs alone. MPI is initialised if it isn't, and
/// then finalised when the process exits; a program that calls MPI itself does so before.
///
/// Which library is loaded follows from the MPI library that the process has loaded already, or
/// else from the launcher, or else from what can be loaded. The environment variable KRYLITH_LINK
/// has the path of another, or says `none`: then each process runs alone.
///
/// Collective; waits as MPI_Init_thread and MPI_Comm_dup do. Throws usage_error unless
/// timeout_seconds > 0, where there is a launcher and no library for it, and where MPI knows of
/// this process alone, since it is not the launcher's; communication_error where MPI fails.
[[nodiscard]] std::shared_ptr<driver_link> link_launched_processes(double timeout_seconds = 600);

/// Links the processes of a communicator by a library libkrylith_link_*: its path, or empty for the
/// one of the MPI that is loaded or can be. The communicator is an integer, as MPI_Comm_toint
/// returns it in the standard interface of MPI 5 and MPI_Comm_c2f in others; without, it is
/// MPI_COMM_WORLD. Collective; costs, and throws, as link_launched_processes() does.
[[nodiscard]] std::shared_ptr<driver_link> open_link(const std::string& library,
                                                     std::optional<std::intptr_t> communicator = {},
                                                     double timeout_seconds = 600);

/// The share of one of the processes of a machine: cores are dealt out equally, GPUs in turn.
struct machine_share {
    int number = 0;    ///< of this process among those of its machine, from 0
    int processes = 1; ///< of the machine

    /// The threads of this process. Launchers that bind a process to cores have dealt them out
    /// already.
    [[nodiscard]] int threads() const;
    /// Ordinals of `count` GPUs, where each process of the machine takes so many: they begin from
    /// the first again where there are too few.
    [[nodiscard]] std::vector<int> gpus(int count) const;
};

/// Finds the share of this driver, where drivers are processes. Collective.
[[nodiscard]] machine_share find_machine_share(driver_link& link);

} // namespace krylith
