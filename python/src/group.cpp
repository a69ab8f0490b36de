#include "group.hpp"
#include "interpreter_lock.hpp"

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <krylith/comm/driver_link.hpp>

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

handle_pointer made(communicator comm) {
    return std::make_shared<group_handle>(std::move(comm));
}

/// A link to the other processes, until a group takes it.
struct process_link {
    std::shared_ptr<driver_link> link;
    machine_share share;

    [[nodiscard]] driver_link& get() const {
        if (!link) throw std::runtime_error("a group has taken this link");
        return *link;
    }
};

/// Those of each process: nobody gives none.
nb::list as_bytes(const std::vector<std::vector<std::byte>>& lists) {
    nb::list result;
    for (const auto& one : lists)
        if (!one.empty())
            result.append(nb::bytes(reinterpret_cast<const char*>(one.data()), one.size()));
    return result;
}

std::vector<std::byte> copy_of(const nb::bytes& given) {
    std::vector<std::byte> result(given.size());
    if (!result.empty()) std::memcpy(result.data(), given.c_str(), given.size());
    return result;
}

void bind_link(nb::module_& m) {
    nb::class_<process_link>(m, "Link")
        .def_static(
            "open",
            [](const std::string& library, std::intptr_t communicator, double seconds) {
                const without_lock released;
                auto link = open_link(library, communicator, seconds);
                const machine_share share = find_machine_share(*link);
                return process_link{std::move(link), share};
            },
            nb::arg("library"), nb::arg("communicator"), nb::arg("seconds"))
        .def_prop_ro("processes", [](const process_link& l) { return l.get().drivers(); })
        .def_prop_ro("threads", [](const process_link& l) { return l.share.threads(); })
        .def("gpus", [](const process_link& l, int count) { return l.share.gpus(count); })
        .def("all_gather", [](const process_link& l, const nb::bytes& given) {
            const auto own = copy_of(given);
            driver_link& link = l.get();
            std::vector<std::vector<std::byte>> all;
            {
                const without_lock released;
                all = link.all_gather(own);
            }
            return as_bytes(all);
        });
}

/// Has a group for one call that uses none of its GPUs.
class holding {
public:
    explicit holding(group_handle& handle) : handle_(acquired(handle)) {}
    ~holding() { handle_.busy = false; }
    holding(const holding&) = delete;
    holding& operator=(const holding&) = delete;

private:
    group_handle& handle_;
};

/// The first rank of each process has its bytes, others have none. While another call is under way
/// the processes would take them for a message of that one.
nb::list all_gather(group_handle& handle, const nb::bytes& given) {
    const communicator& comm = handle.comm;
    std::vector<std::vector<std::byte>> all(static_cast<std::size_t>(comm.ranks()));
    all[static_cast<std::size_t>(comm.first_local())] = copy_of(given);
    {
        const holding held(handle);
        const without_lock released;
        comm.all_gather_lists(all);
    }
    return as_bytes(all);
}

} // namespace

driving::driving(group_handle& handle) : handle_(acquired(handle)) {
    try {
        if (handle.comm.kind() == backend::cuda) gpus_.emplace(gpu_mutex);
    } catch (...) {
        handle.busy = false;
        throw;
    }
}

void check_idle(const group_handle& handle) {
    if (handle.busy) refuse_busy();
}

void bind_group(nb::module_& m) {
    bind_link(m);
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
        .def(
            "joined",
            [](const group_handle& h, process_link& link) {
                (void)link.get();
                const without_lock released;
                return made(communicator(h.comm.devices(), std::move(link.link)));
            },
            nb::arg("link"))
        .def_prop_ro("processes", [](const group_handle& h) { return h.comm.drivers(); })
        .def_prop_ro("is_first", [](const group_handle& h) { return h.comm.is_local(0); })
        .def_prop_ro("failed_elsewhere", // last
                     [](const group_handle& h) { return !h.comm.last_failure().here; })
        .def("all_gather", &all_gather, nb::arg("given"))
        .def_prop_ro("size", [](const group_handle& h) { return h.comm.devices().size(); })
        .def_prop_ro("backend",
                     [](const group_handle& h) { return std::string(to_string(h.comm.kind())); })
        .def_prop_ro("descriptions",
                     [](const group_handle& h) {
                         std::vector<std::string> result;
                         for (int rank = 0; rank < h.comm.devices().size(); ++rank)
                             result.push_back(h.comm.devices()[rank].description());
                         return result;
                     })
        .def_prop_ro("ordinals", // of GPUs
                     [](const group_handle& h) {
                         std::vector<int> result;
                         for (int rank = 0; rank < h.comm.devices().size(); ++rank)
                             result.push_back(h.comm.devices()[rank].ordinal());
                         return result;
                     })
        .def("memory", [](const group_handle& h) {
            std::vector<std::map<std::string, std::size_t>> result;
            for (int rank = 0; rank < h.comm.devices().size(); ++rank)
                result.push_back(h.comm.devices()[rank].ledger().items());
            return result;
        });
    m.def("cuda_device_count", &cuda_device_count);
}

} // namespace krylith::python
