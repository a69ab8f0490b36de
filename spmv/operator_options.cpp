#include <krylith/spmv/operator_options.hpp>

#include <krylith/device/messages/parse_name.hpp>

namespace krylith {

namespace {

constexpr std::array<std::string_view, 11> names_of_operators = {
    "auto", "nz", "2nz", "lra", "lra-rc", "halo", "allgather", "pcsr", "pcsc", "pcoo", "adaptive"};
constexpr std::array<std::string_view, 4> names_of_transports = {"auto", "peer-store",
                                                                 "copy-engine", "nccl"};
constexpr std::array<std::string_view, 3> names_of_orders = {"none", "rcm", "metis"};

/// The names that other libraries use.
constexpr std::array<name_alias, 1> operator_aliases = {{{"ghost", "halo"}}};
constexpr std::array<name_alias, 2> transport_aliases = {
    {{"copy", "copy-engine"}, {"store", "peer-store"}}};
constexpr std::array<name_alias, 1> order_aliases = {{{"cuthillmckee", "rcm"}}};

} // namespace

std::span<const std::string_view> operator_names() noexcept {
    return names_of_operators;
}

std::span<const std::string_view> transport_names() noexcept {
    return names_of_transports;
}

std::span<const std::string_view> order_names() noexcept {
    return names_of_orders;
}

const char* to_string(operator_kind kind) noexcept {
    return names_of_operators[static_cast<std::size_t>(kind)].data();
}

const char* to_string(reordering order) noexcept {
    return names_of_orders[static_cast<std::size_t>(order)].data();
}

const char* to_string(transport_kind kind) noexcept {
    return names_of_transports[static_cast<std::size_t>(kind)].data();
}

operator_kind parse_operator_kind(std::string_view name) {
    return parse_name<operator_kind>(name, names_of_operators, "operator", operator_aliases);
}

reordering parse_reordering(std::string_view name) {
    return parse_name<reordering>(name, names_of_orders, "order", order_aliases);
}

transport_kind parse_transport_kind(std::string_view name) {
    return parse_name<transport_kind>(name, names_of_transports, "transport", transport_aliases);
}

} // namespace krylith
