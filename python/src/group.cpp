#include "group.hpp"
#include "interpreter_lock.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace krylith::python {

namespace {

std::recursive_mutex gpu_mutex;

[[noreturn]] void refuse_busy() {
    throw std::runtime_error("these devices are busy: another thread, or the solve whose callback "
                             "this is, uses them. Make an Operator of its own for it");
}

group_handle& acquired(group_handle& handle) {
    if (handle.busy.exchange(true)) refuse_busy();
    return handle;
}

using handle_pointer = std::shared_ptr<group_handle>;

handle_pointer made(device_group group) {
    return std::make_shared<group_handle>(std::move(group));
}

} // namespace

driving::driving(group_handle& handle) : handle_(acquired(handle)) {
    try {
        if (handle.group.kind() == backend::cuda) gpus_.emplace(gpu_mutex);
    } catch (...) {
        handle.busy = false;
        throw;
    }
}

void check_idle(const group_handle& handle) {
    if (handle.busy) refuse_busy();
}

void bind_group(nb::module_& m) {
    nb::class_<group_handle>(m, "Group")
        .def_static(
            "host",
            [](int devices, int threads) {
                const without_lock released;
                return made(device_group::host(devices, {.host_threads = threads}));
            },
            nb::arg("devices"), nb::arg("threads"))
        .def_static(
            "cuda",
            [](const std::vector<int>& ordinals) {
                const without_lock released;
                return made(device_group::cuda(ordinals));
            },
            nb::arg("ordinals"))
        .def_prop_ro("size", [](const group_handle& h) { return h.group.size(); })
        .def_prop_ro("backend",
                     [](const group_handle& h) { return std::string(to_string(h.group.kind())); })
        .def_prop_ro("descriptions",
                     [](const group_handle& h) {
                         std::vector<std::string> result;
                         for (int rank = 0; rank < h.group.size(); ++rank)
                             result.push_back(h.group[rank].description());
                         return result;
                     })
        .def_prop_ro("ordinals", // of GPUs
                     [](const group_handle& h) {
                         std::vector<int> result;
                         for (int rank = 0; rank < h.group.size(); ++rank)
                             result.push_back(h.group[rank].ordinal());
                         return result;
                     })
        .def("memory", [](const group_handle& h) {
            std::vector<std::map<std::string, std::size_t>> result;
            for (int rank = 0; rank < h.group.size(); ++rank)
                result.push_back(h.group[rank].ledger().items());
            return result;
        });
    m.def("cuda_device_count", &cuda_device_count);
}

} // namespace krylith::python
