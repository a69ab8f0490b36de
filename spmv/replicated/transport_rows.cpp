#include <string>

#include <krylith/comm/copy/block_exchange.hpp>
#include <krylith/device/error.hpp>
#include <krylith/spmv/table/transports.hpp>

namespace krylith {

namespace {

bool reach_each_other(const communicator& comm) {
    for (const int from : comm.local())
        for (const int to : comm.local())
            if (comm.path(from, to) == peer_path::staged) return false;
    return true;
}

void nothing_needed(const communicator&) {}

std::string others(transport_kind than) {
    return listed<transport_method>(transports::all,
                                    [&](transport_kind other) { return other != than; });
}

void require_peers(const communicator& comm) {
    if (!reach_each_other(comm))
        throw usage_error(
            "transport peer-store needs devices that reach each other's memory, but " +
            comm.serialised_because() + ": allowed are " + others(transports::peer_store));
}

bool has_nccl(const communicator& comm) {
    try {
        require_nccl(comm);
        return true;
    } catch (const usage_error&) {
        return false;
    }
}

} // namespace

constinit const transport_method transport_rows::peer_store = {
    .name = "peer-store",
    .aliases = {"store"},
    .help = "by the kernels that compute them, which store",
    .carries = sent_data::results,
    .recordable = true,
    .automatic = true,
    .works = reach_each_other,
    .require = require_peers,
    .exchange = nullptr,
};

constinit const transport_method transport_rows::copy_engine = {
    .name = "copy-engine",
    .aliases = {"copy"},
    .help = "by copy engines",
    .carries = sent_data::results,
    .recordable = false,
    .automatic = true,
    .works = [](const communicator&) { return true; },
    .require = nothing_needed,
    .exchange = make_copy_exchange,
};

constinit const transport_method transport_rows::nccl = {
    .name = "nccl",
    .aliases = name_list::none(),
    .help = "by NCCL",
    .carries = sent_data::results,
    .recordable = false,
    .automatic = false, // its communicators take a second to make
    .works = has_nccl,
    .require = require_nccl,
    .exchange = make_nccl_exchange,
};

std::span<const std::string_view> transport_names() {
    static const auto names = names_of<transport_method>(transports::all);
    return names;
}

transport_kind parse_transport_kind(std::string_view name) {
    return parse_choice<transport_method>(name, transports::all);
}

} // namespace krylith
