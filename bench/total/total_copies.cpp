#include <krylith/bench/total/total_copies.hpp>

#include <cstring>

#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

bare_copy::bare_copy(const device_group& group, const workload& w, bool pinned)
    : group_(group), pinned_(pinned), nodes_(find_numa_topology(group)) {
    const auto& m = w.matrix;
    add(m.row_offsets.data(), m.row_offsets.size() * sizeof(m.row_offsets.front()));
    add(m.column_indices.data(), m.column_indices.size() * sizeof(std::int32_t));
    add(m.values.data(), m.values.size() * sizeof(double));
}

void bare_copy::add(const void* from, std::size_t bytes) {
    const auto p = static_cast<std::size_t>(group_.size());
    for (std::size_t rank = 0; rank < p; ++rank) {
        const std::size_t first = bytes / p * rank;
        const std::size_t count = rank + 1 == p ? bytes - first : bytes / p;
        if (count == 0) continue;
        const std::byte* source = static_cast<const std::byte*>(from) + first;
        const auto& device = group_.handle(static_cast<int>(rank));
        if (pinned_) {
            memory_.emplace_back(nodes_, nodes_.node_of_device[rank], count, device);
            std::memcpy(memory_.back().data(), source, count);
            source = memory_.back().data();
        }
        room_.emplace_back(device, count, "bare copy");
        requests_.push_back({device.get(), room_.back().data(), source, count});
    }
}

double bare_copy::bytes() const {
    double sum = 0;
    for (const upload_request& r : requests_) sum += static_cast<double>(r.bytes);
    return sum;
}

double bare_copy::run() const {
    const tool::stopwatch watch;
    upload_together(requests_);
    group_.synchronize();
    return watch.seconds();
}

} // namespace krylith::bench
