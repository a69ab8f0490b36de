#include <krylith/spmv/streaming/streamed_workers.hpp>

#include <exception>
#include <string>

namespace krylith {

void streamed_workers::run(std::span<const int> device_of_part,
                           const std::function<void(int)>& body) {
    const std::size_t parts = device_of_part.size();
    if (parts == 1) return body(0);
    while (threads_.size() < parts)
        threads_.push_back(
            std::make_unique<host_queue>("streamed part " + std::to_string(threads_.size())));
    std::exception_ptr first;
    try {
        for (std::size_t part = 0; part < parts; ++part) {
            const auto rank = static_cast<std::size_t>(device_of_part[part]);
            const int node = topology_.node_of_device[rank];
            threads_[part]->push([this, part, node, &body] {
                const on_numa_node here(topology_, node);
                body(static_cast<int>(part));
            });
        }
    } catch (...) { // those that were pushed use `body`
        first = std::current_exception();
    }
    for (const auto& thread : threads_) {
        try {
            thread->wait_idle();
        } catch (...) {
            if (!first) first = std::current_exception();
        }
    }
    if (first) std::rethrow_exception(first);
}

} // namespace krylith
