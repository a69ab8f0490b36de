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
format_kind automatic_kind(const local_csr<T>& block) {
    const result_use use = block.alone < block.rows ? result_use::repeated
                           : block.sends            ? result_use::sent
                                                    : result_use::own;
    const format_kind kind = choose_format(block.offsets, use);
    return block.borrow && kind == format_kind::sell ? format_kind::csr : kind;
}

} // namespace
#endif

template <class T>
std::unique_ptr<device_matrix<T>> make_device_matrix(const std::shared_ptr<device>& device,
                                                     const local_csr<T>& block, format_kind kind) {
    // Rows, tiles and slices of a block have 32-bit numbers.
    check_index_size("make_device_matrix: the number of rows of a device", block.rows);
#if KRYLITH_HAVE_CUDA
    if (device->kind() == backend::cuda) {
        switch (kind == format_kind::automatic ? automatic_kind(block) : kind) {
        case format_kind::sell: return cuda::make_sell(device, block);
        case format_kind::merge: return cuda::make_merge(device, block);
        case format_kind::cusparse: return cuda::make_cusparse(device, block);
        default: return cuda::make_csr(device, block);
        }
    }
#endif
    if (kind != format_kind::automatic && kind != format_kind::csr)
        throw usage_error(std::string("format ") + to_string(kind) +
                          " needs CUDA devices; host devices have: auto, csr");
    return host::make_csr(device, block);
}

template std::unique_ptr<device_matrix<double>>
make_device_matrix(const std::shared_ptr<device>&, const local_csr<double>&, format_kind);
template std::unique_ptr<device_matrix<float>>
make_device_matrix(const std::shared_ptr<device>&, const local_csr<float>&, format_kind);

} // namespace krylith
