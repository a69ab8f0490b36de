#include <krylith/device/loops/download_numbers.hpp>

#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/loops/backend_choice.hpp>

namespace krylith {

namespace host {

namespace {

std::vector<std::int64_t> download_numbers(device& on,
                                           std::span<const std::int64_t* const> places) {
    on.synchronize();
    std::vector<std::int64_t> numbers;
    for (const std::int64_t* const place : places) numbers.push_back(*place);
    return numbers;
}

} // namespace

} // namespace host

std::vector<std::int64_t> download_numbers(device& on,
                                           std::span<const std::int64_t* const> places) {
    if (places.empty()) return {};
    return KRYLITH_ON(on, download_numbers(on, places));
}

} // namespace krylith
