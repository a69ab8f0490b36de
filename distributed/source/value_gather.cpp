#include <krylith/distributed/source/value_gather.hpp>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

buffer<std::int32_t> narrowed(const std::shared_ptr<device>& device,
                              std::span<const std::int64_t> wide) {
    const std::vector<std::int32_t> narrow(wide.begin(), wide.end()); // all are below 2^31
    return {device, std::span<const std::int32_t>(narrow), "assembly"};
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
    run_items(*device_, gather_task<T>{order_.data(), first_.data(), coo_values, values_.data()},
              static_cast<std::int64_t>(values_.size()));
}

#define KRYLITH_INSTANTIATE(T) template class value_gather<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
