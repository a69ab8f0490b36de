#include <krylith/bench/common/device_choice.hpp>

#include <algorithm>
#include <utility>

#include <krylith/device/error.hpp>

namespace krylith::bench {

device_choice choose_devices(const tool::device_options& options, std::vector<int> counts) {
    device_choice choice{tool::select_backend(options), std::move(counts), options};
    choice.options.backend = to_string(choice.kind);
    if (choice.counts.empty()) {
        choice.counts = tool::default_counts(choice.options);
    }
    for (const int count : choice.counts) {
        tool::check_count("--device-counts", count);
    }
    std::ranges::sort(choice.counts);
    if (choice.kind == backend::cuda && choice.counts.back() > cuda_device_count()) {
        throw device_error("--device-counts asks for " + std::to_string(choice.counts.back()) +
                           " CUDA devices: this process can use " +
                           std::to_string(cuda_device_count()));
    }
    return choice;
}

bool has_room(const device_group& group, double bytes) {
    // Host devices have the same free memory in common.
    const double needed = group.kind() == backend::host ? bytes : bytes / group.size();
    for (int rank = 0; rank < group.size(); ++rank) {
        if (static_cast<double>(group[rank].free_bytes()) < needed) {
            return false;
        }
    }
    return true;
}

} // namespace krylith::bench
