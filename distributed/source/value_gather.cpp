#include <krylith/distributed/source/value_gather.hpp>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>

namespace krylith {

namespace {

buffer<std::int32_t> narrowed(const std::shared_ptr<device>& device,
                              std::span<const std::int64_t> wide) {
    const std::vector<std::int32_t> narrow(wide.begin(), wide.end()); // all are below 2^31
    return {device, std::span<const std::int32_t>(narrow), "assembly"};
}

template <class T>
void gather_on_host(const gather_arrays& a, const T* from, T* to, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::int64_t k = 0; k < a.nonzeros; ++k) {
        const std::int64_t begin = a.first != nullptr ? a.first[k] : k;
        const std::int64_t end = a.first != nullptr ? a.first[k + 1] : k + 1;
        T sum = from[a.order[begin]];
        for (std::int64_t j = begin + 1; j < end; ++j) sum += from[a.order[j]];
        to[k] = sum;
    }
}

} // namespace

template <class T>
value_gather<T>::value_gather(const std::shared_ptr<device>& device, const coo_assembly& assembly)
    : device_(device), entries_(assembly.entries()) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (entries_ > most)
        throw input_error("an assembly on a device has " + std::to_string(entries_) +
                          " entries, allowed are at most " + std::to_string(most));
    order_ = narrowed(device, assembly.order());
    first_ = narrowed(device, assembly.first());
    values_ = buffer<T>(device, static_cast<std::size_t>(assembly.nnz()), "assembly");
}

template <class T>
value_gather<T>::value_gather(const std::shared_ptr<device>& device, device_assembly assembly,
                              std::int64_t entries)
    : device_(device),
      entries_(entries),
      order_(std::move(assembly.order)),
      first_(std::move(assembly.first)),
      values_(device, first_.size() != 0 ? first_.size() - 1 : order_.size(), "assembly") {}

template <class T>
void value_gather<T>::operator()(const T* coo_values) {
    const gather_arrays arrays = {order_.data(), first_.data(),
                                  static_cast<std::int64_t>(values_.size())};
    if (arrays.nonzeros == 0) return;
#if KRYLITH_HAVE_CUDA
    if (device_->kind() == backend::cuda)
        return cuda::gather_values(*device_, arrays, coo_values, values_.data());
#endif
    auto& host = static_cast<host_device&>(*device_);
    host.submit([=, to = values_.data(), threads = host.threads()] {
        gather_on_host(arrays, coo_values, to, threads);
    });
}

#define KRYLITH_INSTANTIATE(T) template class value_gather<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
