#include <krylith/spmv/make_block.hpp>

#include <string>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/index_width.hpp>
#include <krylith/spmv/sell_layout.hpp>

namespace krylith {

bool prefers_merge(std::span<const std::int64_t> offsets) {
    constexpr std::int64_t fewest_nonzeros = 1'000'000;
    constexpr std::int64_t multiprocessors = 132;
    const std::int64_t nonzeros = offsets.back() - offsets.front();
    if (nonzeros < fewest_nonzeros) return false;
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
        if (offsets[row + 1] - offsets[row] > nonzeros / multiprocessors) return true;
    return false;
}

template <class T>
std::unique_ptr<local_matrix<T>> make_block(const std::shared_ptr<device>& where,
                                            const local_block<T>& block, local_kind kind) {
    // Rows, tiles and slices of a block are numbered in 32 bits.
    check_index_size("make_block: the number of rows of a device", block.rows);
#if KRYLITH_HAVE_CUDA
    if (where->kind() == backend::cuda) {
        // Not where others compute some of the rows too: their bits depend on the block.
        if (kind == local_kind::automatic && block.alone >= block.rows &&
            prefers_merge(block.offsets))
            kind = local_kind::merge;
        if (kind == local_kind::automatic && block.borrow) kind = local_kind::csr;
        if (kind == local_kind::automatic)
            kind = make_sell_layout(block.offsets).padding() <= most_sell_padding ? local_kind::sell
                                                                                  : local_kind::csr;
        switch (kind) {
        case local_kind::sell: return cuda::make_sell(where, block);
        case local_kind::merge: return cuda::make_merge(where, block);
        case local_kind::vendor: return cuda::make_vendor(where, block);
        default: return cuda::make_csr(where, block);
        }
    }
#endif
    if (kind != local_kind::automatic && kind != local_kind::csr)
        throw usage_error(std::string("local kernel ") + to_string(kind) +
                          " needs CUDA devices; host devices have: auto, csr");
    return host::make_csr(where, block);
}

template std::unique_ptr<local_matrix<double>> make_block(const std::shared_ptr<device>&,
                                                          const local_block<double>&, local_kind);
template std::unique_ptr<local_matrix<float>> make_block(const std::shared_ptr<device>&,
                                                         const local_block<float>&, local_kind);

} // namespace krylith
