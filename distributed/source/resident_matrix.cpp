#include <krylith/distributed/source/resident_matrix.hpp>

#include <utility>

#include <krylith/config.hpp>

namespace krylith {

longest_row resident_matrix::longest() const {
    longest_row result;
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
        const longest_row& own = parts[rank].lengths.longest;
        if (own.nonzeros > result.nonzeros) result = {rows.begin[rank] + own.row, own.nonzeros};
    }
    return result;
}

row_starts resident_matrix::starts() const {
    std::vector<std::int64_t> before{0};
    for (const resident_rows& part : parts) before.push_back(before.back() + part.lengths.nonzeros);
    return {rows, std::move(before)};
}

bool makes_operators_there([[maybe_unused]] const device_group& group) noexcept {
#if KRYLITH_HAVE_CUDA
    return group.kind() == backend::cuda;
#else
    return false;
#endif
}

} // namespace krylith
