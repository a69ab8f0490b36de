#include <krylith/adapters/petsc/ksp_devices.hpp>

#include <algorithm>
#include <charconv>
#include <exception>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <krylith/adapters/mpi.hpp>
#include <krylith/adapters/petsc/checked.hpp>
#include <krylith/comm/agreement/failure_words.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/device/error.hpp>

namespace krylith::petsc {

namespace {

std::vector<int> numbers_in(std::string_view text) {
    std::vector<int> result;
    for (const char* p = text.data(); true; ++p) {
        int number = -1;
        const char* const end = text.data() + text.size();
        const auto [after, failure] = std::from_chars(p, end, number);
        if (failure != std::errc() || number < 0 || (after != end && *after != ','))
            throw usage_error(
                "krylith_devices is '" + std::string(text) +
                "': allowed are a number of devices, and numbers of GPUs such as 0,2");
        result.push_back(number);
        if (after == end) return result;
        p = after;
    }
}

device_group make_devices(const ksp_options& options, const machine_share* share) {
    const std::string devices = options.devices.empty() ? "1" : options.devices;
    std::vector<int> gpus = numbers_in(devices);
    const bool listed = gpus.size() > 1;
    const int count = listed ? static_cast<int>(gpus.size()) : gpus.front();
    const int present = options.backend == "host" ? 0 : cuda_device_count();
    if (options.backend == "host" || (options.backend.empty() && present == 0 && !listed)) {
        const int own = share == nullptr ? 0 : share->threads();
        return device_group::host(count, {.host_threads = options.threads ? options.threads : own});
    }
    if (!listed) {
        gpus.resize(
            static_cast<std::size_t>(options.backend == "cuda" ? count : std::min(count, present)));
        std::iota(gpus.begin(), gpus.end(), 0);
        if (share != nullptr) gpus = share->gpus(static_cast<int>(gpus.size()));
    }
    return device_group::cuda(gpus);
}

} // namespace

communicator make_communicator(MPI_Comm comm, const ksp_options& options) {
    int processes = 1;
    check(MPI_Comm_size(comm, &processes));
    if (processes == 1) return make_devices(options, nullptr);
    auto link = link_processes(comm);
    const machine_share share = find_machine_share(*link);
    std::optional<device_group> devices;
    std::exception_ptr failed;
    try {
        devices.emplace(make_devices(options, &share));
    } catch (...) {
        failed = std::current_exception();
    }
    const auto words = link->all_gather(failure_words(failed));
    if (const std::size_t first = first_failure(words); first != words.size())
        std::rethrow_exception(failure_of(words[first]));
    return {*devices, std::move(link)};
}

} // namespace krylith::petsc
