// The processes of one command, where an MPI launcher has started several.
#pragma once

#include <exception>
#include <memory>
#include <optional>

#include <krylith/comm/communicator.hpp>
#include <krylith/comm/driver_link.hpp>
#include <krylith/tools/cli/command.hpp>
#include <krylith/tools/cli/device_selection.hpp>

namespace CLI {
class App;
} // namespace CLI

namespace krylith::tool {

/// Adds --processes.
void add_processes(CLI::App& app, device_options& options);

class process_team {
public:
    /// Links the processes that were started together, unless options.processes is 1. Collective.
    /// Throws usage_error where it names another number than there are.
    explicit process_team(const device_options& options);

    [[nodiscard]] bool has_one() const noexcept { return link_ == nullptr; }
    /// Whether this one prints, and writes files.
    [[nodiscard]] bool is_first() const noexcept { return has_one() || link_->driver() == 0; }
    /// Of processes that are not one.
    [[nodiscard]] driver_link& link() const { return *link_; }
    /// Joins what each process takes of the devices asked for: those of one machine share its
    /// cores, and each takes GPUs of its own as long as there are enough. Collective.
    [[nodiscard]] communicator select(const device_options& options);

    /// Says what has ended a solve, once for all processes, and returns the status of this one:
    /// where only others have failed, that is communication_failure. Where they could not agree on
    /// it each says what it knows.
    [[nodiscard]] exit_status tell(const std::exception& failure) const;

private:
    std::shared_ptr<driver_link> link_; ///< null: this process is alone
    machine_share share_;
    std::optional<communicator> joined_; ///< the last
    failure_place not_joined_;           ///< of select()

    [[nodiscard]] device_group select_own(const device_options& options) const;
};

} // namespace krylith::tool
