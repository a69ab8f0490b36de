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
    const block_lengths lengths =
        block.there != nullptr ? block.there->lengths : measure_lengths(block.offsets);
    return block.borrow ? choose_borrowing_format(lengths, use) : choose_format(lengths, use);
}

} // namespace

template <class T>
std::unique_ptr<device_matrix<T>> make_device_matrix(const std::shared_ptr<device>& device,
                                                     const local_csr<T>& block, format_kind kind) {
    // Rows, tiles and slices of a block have 32-bit numbers.
    check_index_size("make_device_matrix: the number of rows of a device", block.rows);
    const bool cuda = device->kind() == backend::cuda;
    const format_kind chosen = kind ? kind : cuda ? automatic_kind(block) : formats::csr;
    const auto has = [cuda](format_kind k) { return cuda ? k->on_cuda.get() : k->on_host.get(); };
    if (!has(chosen)) {
        std::string others = std::string(format_method::default_name);
        for (const format_kind other : formats::all)
            if (has(other)) others += std::string(", ") + to_string(other);
        throw usage_error(std::string("format ") + to_string(chosen) + " needs " +
                          (cuda ? "host" : "CUDA") + " devices; " + (cuda ? "CUDA" : "host") +
                          " devices have: " + others);
    }
    const format_makers& makers = cuda ? chosen->cuda.get() : chosen->host.get();
    return makers.of<T>()(device, block);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<device_matrix<T>> make_device_matrix(                                 \
        const std::shared_ptr<device>&, const local_csr<T>&, format_kind);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
