// Rows of the tables of operators and formats for tests that loop over them: what is new in a table
// is tested by itself.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/spmv/operator_options.hpp>

namespace krylith::testing {

/// Returns the formats that devices of this kind have.
[[nodiscard]] inline std::vector<format_kind> formats_of(backend kind) {
    std::vector<format_kind> result;
    for (const format_kind format : formats::all)
        if (kind == backend::host ? format->on_host.get() : format->on_cuda.get())
            result.push_back(format);
    return result;
}

/// Returns the operators for which wanted(kind) is true.
template <class Wanted>
[[nodiscard]] std::vector<operator_kind> operators_where(Wanted wanted) {
    std::vector<operator_kind> result;
    std::ranges::copy_if(operators::all, std::back_inserter(result), wanted);
    return result;
}

/// Returns the operators that a recorded loop may contain.
[[nodiscard]] inline std::vector<operator_kind> recordable_operators() {
    return operators_where([](operator_kind kind) { return kind->eager_because.empty(); });
}

/// Returns the operators that take matrices in memory of the devices.
[[nodiscard]] inline std::vector<operator_kind> operators_from_devices() {
    return operators_where([](operator_kind kind) { return kind->needs_host_because.empty(); });
}

/// Returns the operators that whole solves are tested with: all but those whose products are
/// made, and sent, as those of another operator are.
[[nodiscard]] inline std::vector<operator_kind> different_operators() {
    constexpr std::array alike = {operators::two_nz, operators::lra, operators::pcoo};
    return operators_where([&](operator_kind kind) {
        return std::ranges::count(alike, kind) == 0 &&
               to_string(kind) != std::string_view("adaptive");
    });
}

} // namespace krylith::testing
