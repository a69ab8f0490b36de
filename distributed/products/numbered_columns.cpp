#include <krylith/distributed/products/numbered_columns.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include <krylith/device/language/instances.hpp>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

/// Calls visit(piece, begin, count) with arrays on the device that have all of `given`, in turn.
template <class V, class Visit>
void in_pieces(const std::shared_ptr<device>& device, const V* given, std::int64_t count,
               const Visit& visit) {
    constexpr std::int64_t most = (std::int64_t{128} << 20) / sizeof(V);
    const bool copied = given != nullptr && device->lies_elsewhere(given) == host_memory_name;
    const buffer<V> room(device, copied ? as_size(std::min(count, most)) : 0, set_up_item);
    for (std::int64_t begin = 0; begin < count; begin += most) {
        const std::int64_t here = std::min(count - begin, most);
        if (copied) device->upload(room.data(), given + begin, as_size(here) * sizeof(V));
        visit(copied ? room.data() : given + begin, begin, here);
    }
}

void sort_unique(std::vector<std::int64_t>& list) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

} // namespace

std::optional<local_columns> number_columns(const std::shared_ptr<device>& device, row_range owned,
                                            std::int64_t all, const buffer<std::int32_t>& columns) {
    const auto count = static_cast<std::int64_t>(columns.size());
    outer_columns outer = find_outer_columns(device, columns.data(), count, owned, all);
    if (!outer.valid) return std::nullopt;
    local_columns result = outer.resident.size() != 0
                               ? local_columns(owned, outer.ghosts, std::move(outer.resident))
                               : local_columns(device, owned, outer.ghosts);
    if (owned.size() != all)
        run_items(*device,
                  number_locally<std::int32_t>{result.numbers(), columns.data(), columns.data()},
                  count);
    return result;
}

template <class V>
std::optional<local_columns> number_columns(const std::shared_ptr<device>& device, row_range owned,
                                            std::int64_t all, const V* given,
                                            const buffer<std::int32_t>& local) {
    const auto count = static_cast<std::int64_t>(local.size());
    const buffer<std::uint32_t> counters(device, 2, set_up_item);
    buffer<std::int64_t> found;
    std::vector<std::int64_t> ghosts;
    std::size_t sorted = 0;
    bool valid = true;
    in_pieces(device, given, count, [&](const V* piece, std::int64_t, std::int64_t here) {
        if (static_cast<std::int64_t>(found.size()) < here)
            found = {device, as_size(here), set_up_item};
        counters.zero();
        run_items(*device, find_references<V>{piece, owned, all, counters.data(), found.data()},
                  here);
        const std::vector<std::uint32_t> numbers = counters.download();
        valid = valid && numbers[0] == 0;
        const std::size_t before = ghosts.size();
        ghosts.resize(before + numbers[1]);
        if (numbers[1] != 0)
            device->download(ghosts.data() + before, found.data(),
                             numbers[1] * sizeof(std::int64_t));
        if (ghosts.size() < 2 * sorted) return; // so that sorting is O(references log references)
        sort_unique(ghosts);
        sorted = ghosts.size();
    });
    if (!valid) return std::nullopt;
    found = {};
    sort_unique(ghosts);
    check_index_size("distributed_csr: the number of columns of a rank, ghosts included,",
                     owned.size() + static_cast<std::int64_t>(ghosts.size()));
    local_columns result(device, owned, std::move(ghosts));
    in_pieces(device, given, count, [&](const V* piece, std::int64_t begin, std::int64_t here) {
        run_items(*device, number_locally<V>{result.numbers(), piece, local.data() + begin}, here);
        device->synchronize(); // the next piece may take its place
    });
    return result;
}

#define KRYLITH_INSTANTIATE(V)                                                                     \
    template std::optional<local_columns> number_columns(const std::shared_ptr<device>&,           \
                                                         row_range, std::int64_t, const V*,        \
                                                         const buffer<std::int32_t>&);
KRYLITH_INSTANTIATE(std::int32_t)
KRYLITH_INSTANTIATE(std::int64_t)
#undef KRYLITH_INSTANTIATE

} // namespace krylith
