// The row of a transport in the table of transports (spmv/table/transports.hpp).
#pragma once

#include <memory>
#include <string_view>

#include <krylith/device/tables/required.hpp>
#include <krylith/device/tables/table_choice.hpp>

namespace krylith {

class block_exchange;
class communicator;

/// What an operator sends for a product.
enum class sent_data {
    x,                  ///< entries of x, when they are written
    x_and_partial_sums, ///< entries of x, and what devices have of rows that others own
    results             ///< entries of y, when they are computed
};

struct transport_method {
    static constexpr std::string_view what = "transport";
    static constexpr std::string_view default_name = "auto";

    required_text name;
    name_list aliases;  ///< what others call it, in lower case
    required_text help; ///< a clause, such as "by copy engines"
    /// What it can be chosen for: operators that send this (operator_method::sends).
    required<sent_data> carries;
    required<bool> recordable; ///< whether a recorded loop may contain it
    required<bool> automatic;  ///< whether transports::automatic may take it
    /// Whether it works between these devices.
    required<bool (*)(const communicator&)> works;
    /// Throws usage_error that says why it doesn't.
    required<void (*)(const communicator&)> require;
    /// Makes what moves results beside the kernels; null: the kernel that computes a result stores
    /// it.
    required<std::unique_ptr<block_exchange> (*)(const communicator&)> exchange;
};

using transport_kind = table_choice<transport_method>;

} // namespace krylith
