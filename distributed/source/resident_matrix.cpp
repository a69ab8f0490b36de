#include <krylith/distributed/source/resident_matrix.hpp>

#include <utility>

#include <krylith/config.hpp>
#include <krylith/device/transport/transfers.hpp>
#include <krylith/matrix/compressed/first_touch.hpp>

namespace krylith {

void resident_matrix::share_lengths() {
    auto lengths =
        by_rank(comm, [&](int rank) { return parts[static_cast<std::size_t>(rank)].lengths; });
    comm.all_gather(lengths);
    for (std::size_t rank = 0; rank < parts.size(); ++rank) parts[rank].lengths = lengths[rank];
}

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

std::vector<std::int64_t> resident_matrix::download_offsets() const {
    std::vector<std::int64_t> all;
    resize_in_parallel(all, static_cast<std::size_t>(rows.rows()) + 1);
    std::vector<download_request> requests;
    for (const int rank : comm.local()) {
        const row_range owned = rows.owned(rank);
        requests.push_back({&comm[rank], all.data() + owned.begin + 1,
                            parts[static_cast<std::size_t>(rank)].offsets.data() + 1,
                            static_cast<std::size_t>(owned.size()) * sizeof(std::int64_t)});
    }
    download_together(requests);
    for (int rank = 1; rank < comm.ranks(); ++rank) {
        const row_range owned = rows.owned(rank);
        const std::int64_t before = all[static_cast<std::size_t>(owned.begin)];
#pragma omp parallel for schedule(static)
        for (std::int64_t row = owned.begin; row < owned.end; ++row) all.data()[row + 1] += before;
    }
    return all;
}

bool makes_operators_there([[maybe_unused]] const communicator& comm) noexcept {
#if KRYLITH_HAVE_CUDA
    return comm.kind() == backend::cuda;
#else
    return false;
#endif
}

} // namespace krylith
