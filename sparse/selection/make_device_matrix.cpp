#include <krylith/sparse/selection/make_device_matrix.hpp>

#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/selection/format_choice.hpp>

namespace krylith {

namespace {

template <class T>
format_kind automatic_kind(const local_csr<T>& block) {
    const result_use use = block.alone < block.rows ? result_use::repeated
                           : block.sends            ? result_use::sent
                                                    : result_use::own;
    const format_kind kind = choose_format(block.offsets, use);
    return block.borrow && !kind->borrows ? formats::csr : kind;
}

} // namespace

template <class T>
std::unique_ptr<device_matrix<T>> make_device_matrix(const std::shared_ptr<device>& device,
                                                     const local_csr<T>& block, format_kind kind) {
    // Rows, tiles and slices of a block have 32-bit numbers.
    check_index_size("make_device_matrix: the number of rows of a device", block.rows);
    if (device->kind() == backend::cuda)
        return (kind ? kind : automatic_kind(block))->cuda.get().template of<T>()(device, block);
    if (kind && !kind->on_host) {
        std::string host_formats = std::string(format_method::default_name);
        for (const format_kind other : formats::all)
            if (other->on_host) host_formats += std::string(", ") + to_string(other);
        throw usage_error(std::string("format ") + to_string(kind) +
                          " needs CUDA devices; host devices have: " + host_formats);
    }
    return (kind ? kind : formats::csr)->host.get().template of<T>()(device, block);
}

template std::unique_ptr<device_matrix<double>>
make_device_matrix(const std::shared_ptr<device>&, const local_csr<double>&, format_kind);
template std::unique_ptr<device_matrix<float>>
make_device_matrix(const std::shared_ptr<device>&, const local_csr<float>&, format_kind);

} // namespace krylith
