#include <krylith/sparse/selection/make_device_matrix.hpp>

#include <string>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/selection/format_choice.hpp>

namespace krylith {

#if KRYLITH_HAVE_CUDA
namespace {

template <class T>
local_kind automatic_kind(const local_block<T>& block) {
    const result_use use = block.alone < block.rows ? result_use::repeated
                           : block.sends            ? result_use::sent
                                                    : result_use::own;
    const local_kind kind = choose_format(block.offsets, use);
    return block.borrow && kind == local_kind::sell ? local_kind::csr : kind;
}

} // namespace
#endif

template <class T>
std::unique_ptr<local_matrix<T>> make_block(const std::shared_ptr<device>& where,
                                            const local_block<T>& block, local_kind kind) {
    // Rows, tiles and slices of a block are numbered in 32 bits.
    check_index_size("make_block: the number of rows of a device", block.rows);
#if KRYLITH_HAVE_CUDA
    if (where->kind() == backend::cuda) {
        switch (kind == local_kind::automatic ? automatic_kind(block) : kind) {
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
