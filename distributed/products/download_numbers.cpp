#include <krylith/distributed/products/download_numbers.hpp>

#include <krylith/config.hpp>
#if KRYLITH_HAVE_CUDA
#include <krylith/device/cuda/cuda_runtime.hpp>
#endif

namespace krylith {

std::vector<std::int64_t> download_numbers(device& on,
                                           std::span<const std::int64_t* const> places) {
    if (places.empty()) return {};
#if KRYLITH_HAVE_CUDA
    if (on.kind() == backend::cuda) return cuda::download_numbers(on, places);
#endif
    on.synchronize();
    std::vector<std::int64_t> numbers;
    for (const std::int64_t* const place : places) numbers.push_back(*place);
    return numbers;
}

} // namespace krylith
