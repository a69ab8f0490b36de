#include <krylith/distributed/source/local_columns.hpp>

#include <utility>

namespace krylith {

local_columns::local_columns(const std::shared_ptr<device>& device, row_range owned,
                             std::vector<std::int64_t> ghosts)
    : local_indices(owned, std::move(ghosts)) {
    if (const std::span<const std::int64_t> list = this->ghosts(); !list.empty())
        resident_ = std::make_shared<const buffer<std::int64_t>>(device, list, "ghost columns");
}

local_columns::local_columns(row_range owned, std::vector<std::int64_t> ghosts,
                             buffer<std::int64_t> resident)
    : local_indices(owned, std::move(ghosts)) {
    if (!this->ghosts().empty())
        resident_ = std::make_shared<const buffer<std::int64_t>>(std::move(resident));
}

column_numbers local_columns::numbers() const noexcept {
    return {owned().begin, static_cast<std::int32_t>(first_owned()),
            static_cast<std::int32_t>(owned().size()), static_cast<std::int32_t>(ghost_count()),
            resident_ != nullptr ? resident_->data() : nullptr};
}

index_map map_of(const communicator& comm, row_partition owners,
                 std::span<const local_columns> columns) {
    return {comm, std::move(owners), {columns.begin(), columns.end()}};
}

} // namespace krylith
