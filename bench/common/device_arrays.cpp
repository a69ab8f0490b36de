#include <krylith/bench/common/device_arrays.hpp>

namespace krylith::bench {

device_arrays::device_arrays(const device_group& group, const workload& w,
                             const row_partition& rows) {
    const char* const item = "simulation";
    for (int rank = 0; rank < group.size(); ++rank) {
        const auto owned = rows.owned(rank);
        const auto offsets = std::span(w.matrix.row_offsets)
                                 .subspan(static_cast<std::size_t>(owned.begin),
                                          static_cast<std::size_t>(owned.size()) + 1);
        const auto first = static_cast<std::size_t>(offsets.front());
        const auto count = static_cast<std::size_t>(offsets.back()) - first;
        const auto& device = group.handle(rank);
        offsets_.emplace_back(device, offsets, item);
        columns_.emplace_back(device, std::span(w.matrix.column_indices).subspan(first, count),
                              item);
        values_.emplace_back(device, std::span(w.matrix.values).subspan(first, count), item);
        parts_.push_back(
            {owned.size(), offsets_.back().data(), columns_.back().data(), values_.back().data()});
    }
    group.synchronize();
}

} // namespace krylith::bench
