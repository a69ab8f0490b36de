#include <krylith/sparse/format.hpp>

#include <krylith/device/messages/parse_name.hpp>

namespace krylith {

namespace {

constexpr std::array<std::string_view, 5> names = {"auto", "csr", "sell", "merge", "vendor"};

/// What other libraries call some of them.
constexpr std::array<name_alias, 2> aliases = {{{"cusparse", "vendor"}, {"sellp", "sell"}}};

} // namespace

std::span<const std::string_view> local_names() noexcept {
    return names;
}

const char* to_string(local_kind kind) noexcept {
    return names[static_cast<std::size_t>(kind)].data();
}

local_kind parse_local_kind(std::string_view name) {
    return parse_name<local_kind>(name, names, "local kernel", aliases);
}

} // namespace krylith
