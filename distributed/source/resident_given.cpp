// Patterns of arrays that lie on the devices.
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/distributed/source/resident_matrix.hpp>

#include <krylith/config.hpp>
#if KRYLITH_HAVE_CUDA

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/distributed/source/partition_check.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

std::shared_ptr<resident_matrix>
take_pattern(const communicator& comm, std::span<const given_rows> given, std::int64_t columns) {
    if (columns > index_size_limit()) return nullptr;
    auto result = std::make_shared<resident_matrix>(
        resident_matrix{comm, {}, columns, std::vector<resident_rows>(given.size())});
    result->rows = rows_of_parts(comm, [&](int rank) { return given[as_size(rank)].rows; });
    std::vector<std::uint8_t> wrong(given.size()); // bytes, since threads write neighbours
    on_each_rank(comm, [&](int rank) {
        const auto& device = comm.handle(rank);
        const given_rows& from = given[as_size(rank)];
        resident_rows& to = result->parts[as_size(rank)];
        to.offsets = buffer<std::int64_t>(device, as_size(from.rows) + 1, set_up_item);
        to.columns = from.columns;
        if (from.rows == 0) {
            to.offsets.zero();
            return;
        }
        if (from.wide_offsets != nullptr)
            cuda::count_from_zero(*device, from.wide_offsets, from.rows + 1, to.offsets.data());
        else
            cuda::count_from_zero(*device, from.narrow_offsets, from.rows + 1, to.offsets.data());
        const auto [lengths, descends] =
            cuda::measure_lengths(device, to.offsets.data(), from.rows);
        to.lengths = lengths;
        wrong[as_size(rank)] =
            descends || cuda::has_bad_column(device, to.columns, lengths.nonzeros, columns);
    });
    if (comm.any(std::ranges::any_of(wrong, [](std::uint8_t w) { return w != 0; }))) return nullptr;
    result->share_lengths();
    return result;
}

std::shared_ptr<resident_matrix> take_numbered(const communicator& comm,
                                               std::span<const numbered_rows> given,
                                               std::int64_t columns) {
    auto result = std::make_shared<resident_matrix>(
        resident_matrix{comm, {}, columns, std::vector<resident_rows>(given.size())});
    result->rows = rows_of_parts(comm, [&](int rank) { return given[as_size(rank)].rows; });
    on_each_rank(comm, [&](int rank) {
        const auto& device = comm.handle(rank);
        const numbered_rows& from = given[as_size(rank)];
        resident_rows& to = result->parts[as_size(rank)];
        to.offsets = buffer<std::int64_t>(device, as_size(from.rows) + 1, set_up_item);
        to.columns = from.columns;
        to.numbers = from.numbers;
        if (from.rows == 0) {
            to.offsets.zero();
            return;
        }
        device->copy(to.offsets.data(), from.offsets, to.offsets.size() * sizeof(std::int64_t));
        to.lengths = cuda::measure_lengths(device, to.offsets.data(), from.rows).lengths;
    });
    result->share_lengths();
    return result;
}

} // namespace krylith

#endif
