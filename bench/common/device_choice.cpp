#include <krylith/bench/common/device_choice.hpp>

#include <algorithm>
#include <numeric>

#include <krylith/device/error.hpp>

namespace krylith::bench {

device_group device_choice::group(int count) const {
    if (kind == backend::host) {
        return device_group::host(count, {.host_threads = threads});
    }
    std::vector<int> ordinals(static_cast<std::size_t>(count));
    std::iota(ordinals.begin(), ordinals.end(), 0);
    return device_group::cuda(ordinals);
}

device_choice choose_devices(const std::string& kind, std::vector<int> counts, int threads) {
    const int present = cuda_device_count();
    device_choice choice;
    choice.threads = threads;
    if (kind == "cuda" || (kind == "auto" && present > 0)) {
        choice.kind = backend::cuda;
    } else if (kind != "host" && kind != "auto") {
        throw usage_error("unknown backend '" + kind + "'; allowed are auto, cuda, host");
    }
    const bool cuda = choice.kind == backend::cuda;
    if (cuda && present == 0) {
        throw device_error("backend cuda: this process can use no CUDA device");
    }
    choice.counts = std::move(counts);
    if (choice.counts.empty()) {
        choice.counts.resize(cuda ? static_cast<std::size_t>(present) : 1);
        std::iota(choice.counts.begin(), choice.counts.end(), 1);
    }
    std::sort(choice.counts.begin(), choice.counts.end());
    if (choice.counts.front() < 1 || (cuda && choice.counts.back() > present)) {
        throw usage_error("device counts must be 1 or more" +
                          (cuda ? ", at most " + std::to_string(present) : std::string()));
    }
    return choice;
}

bool has_room(const device_group& group, double bytes) {
    // What host devices have free is the same memory each time.
    const double share = group.kind() == backend::host ? bytes : bytes / group.size();
    for (int rank = 0; rank < group.size(); ++rank) {
        if (static_cast<double>(group[rank].free_bytes()) < share) {
            return false;
        }
    }
    return true;
}

std::vector<std::string> descriptions(const device_group& group) {
    std::vector<std::string> result;
    for (int rank = 0; rank < group.size(); ++rank) {
        result.push_back(group[rank].description());
    }
    return result;
}

} // namespace krylith::bench
