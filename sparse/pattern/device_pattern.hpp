// The pattern of a block in memory of its CUDA device, of which formats are made there.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/pattern/block_lengths.hpp>

namespace krylith {

/// Arrays on the device, borrowed.
struct device_pattern {
    const std::int64_t* offsets = nullptr;  ///< [rows + 1], the first is 0
    const std::int32_t* columns = nullptr;  ///< [nonzeros], local
    const std::uint8_t* boundary = nullptr; ///< [rows]: not 0 where a row waits for peers; null: no
                                            ///< row does
    block_lengths lengths = {};
};

template <class T>
struct local_csr;

/// A block's pattern on its device while its format is made: where the block has it, or a copy of
/// what it has on the host. `needs_columns` says whether the columns are copied, too.
class resident_pattern {
public:
    template <class T>
    resident_pattern(const std::shared_ptr<device>& device, const local_csr<T>& block,
                     bool needs_columns);

    [[nodiscard]] const device_pattern& operator*() const noexcept { return view_; }
    [[nodiscard]] const device_pattern* operator->() const noexcept { return &view_; }

private:
    device_pattern view_;
    buffer<std::int64_t> offsets_;
    buffer<std::int32_t> columns_;
    buffer<std::uint8_t> boundary_;
};

namespace cuda {

/// Enqueues to[i] = from[i] - base for i < count, from one width of integers to another. `to` may
/// be `from`.
template <class From, class To>
void move_indices(device& device, const From* from, std::int64_t count, std::int64_t base, To* to);

/// Enqueues to[i] = from[i] - from[0] for i < count. The arrays are two.
template <class From>
void count_from_zero(device& device, const From* from, std::int64_t count, std::int64_t* to);

/// Downloads every `step`-th of count + 1 offsets, and the last.
[[nodiscard]] std::vector<std::int64_t> sample_offsets(const std::shared_ptr<device>& device,
                                                       const std::int64_t* offsets,
                                                       std::int64_t count, std::int64_t step);

/// The rows of groups. Group g has the rows at places [first[g], last[g]), or [g * size,
/// (g + 1) * size) of `places` where these are null; the row at a place is order[place], none where
/// that is negative, or the place itself where order is null.
struct place_groups {
    std::int32_t count = 0;
    std::int64_t places = 0;
    std::int64_t size = 0;
    const std::int32_t* first = nullptr;
    const std::int32_t* last = nullptr;
    const std::int32_t* order = nullptr;
};

/// Returns for each group whether one of its rows is of the boundary; waits for the device.
[[nodiscard]] std::vector<std::uint8_t> groups_on_boundary(const std::shared_ptr<device>& device,
                                                           const place_groups& groups,
                                                           const std::uint8_t* boundary);

} // namespace cuda

} // namespace krylith
