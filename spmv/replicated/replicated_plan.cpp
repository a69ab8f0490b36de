#include <krylith/spmv/replicated/replicated_plan.hpp>

#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/device/transport/block_exchange.hpp>

namespace krylith {

namespace {

/// Checks a fraction; -1 stands for the rule's.
void check_fraction(const char* name, double value, bool has_one, const char* owners) {
    if (value == -1) return;
    if (!has_one)
        throw usage_error(std::string(name) + " is for " + owners +
                          ": for others it must be -1, "
                          "not " +
                          number_text(value));
    if (!(value >= 0 && value <= 1))
        throw usage_error(std::string(name) + " is " + number_text(value) +
                          ", must be from 0 to 1, or -1 for the usual one");
}

bool direct(const device_group& group) {
    for (int from = 0; from < group.size(); ++from)
        for (int to = 0; to < group.size(); ++to)
            if (group.path(from, to) == peer_path::staged) return false;
    return true;
}

} // namespace

bool is_replicated(operator_kind kind) noexcept {
    return kind == operator_kind::nz || kind == operator_kind::two_nz ||
           kind == operator_kind::lra || kind == operator_kind::lra_rc;
}

void check_replication(const device_group& group, const operator_options& options,
                       bool on_devices) {
    const bool repeats = options.kind == operator_kind::lra_rc;
    check_fraction("long_fraction", options.long_fraction,
                   repeats || options.kind == operator_kind::lra, "operators lra and lra-rc");
    check_fraction("redundant_fraction", options.redundant_fraction, repeats, "operator lra-rc");
    if (options.long_fraction + options.redundant_fraction > 1)
        throw usage_error("long_fraction and redundant_fraction are " +
                          number_text(options.long_fraction) + " and " +
                          number_text(options.redundant_fraction) +
                          ", together they must be at most 1");
    if (on_devices && is_replicated(options.kind) && options.kind != operator_kind::nz)
        throw usage_error(std::string("operator ") + to_string(options.kind) +
                          " needs the matrix in host memory, since devices compute other rows than "
                          "those that they were given; allowed are nz and halo");
    if (options.transport == transport_kind::nccl) require_nccl(group);
}

row_fractions fractions_by_rule(operator_kind kind, const device_group& group,
                                std::span<const std::int64_t> row_offsets,
                                const operator_options& options) {
    const auto rows = static_cast<std::int64_t>(row_offsets.size()) - 1;
    const double mean = rows == 0 ? 0
                                  : static_cast<double>(row_offsets.back() - row_offsets.front()) /
                                        static_cast<double>(rows);
    row_fractions fractions =
        usual_fractions(mean, group.size(), kind == operator_kind::lra_rc, direct(group));
    if (options.long_fraction != -1) fractions.long_rows = options.long_fraction;
    if (options.redundant_fraction != -1) fractions.redundant = options.redundant_fraction;
    // Where only one fraction was given, the rule's other one may be too large beside it.
    if (fractions.long_rows + fractions.redundant > 1)
        (options.long_fraction != -1 ? fractions.redundant : fractions.long_rows) =
            1 - (options.long_fraction != -1 ? fractions.long_rows : fractions.redundant);
    return fractions;
}

block_partition plan_blocks(operator_kind kind, const layout& layout,
                            std::span<const std::int64_t> row_offsets, const longest_row& longest,
                            const row_fractions& fractions) {
    const int parts = layout.group.size();
    const std::int64_t alignment = row_alignment(layout.size(), parts);
    if (kind == operator_kind::nz) return one_block(layout.rows);
    if (kind == operator_kind::two_nz) return two_blocks(row_offsets, parts, alignment);
    return long_rows_last(row_offsets, longest, parts, fractions, alignment);
}

transport_kind choose_transport(const device_group& group, transport_kind asked, bool apart) {
    if (asked == transport_kind::nccl) require_nccl(group);
    if (group.size() == 1) return transport_kind::peer_store;
    if (asked == transport_kind::automatic)
        return direct(group) && !apart ? transport_kind::peer_store : transport_kind::copy_engine;
    if (asked == transport_kind::peer_store && !direct(group))
        throw usage_error(
            "transport peer-store needs devices that reach each other's memory, but " +
            group.serialised_because() + ": allowed are copy-engine and nccl");
    if (asked == transport_kind::peer_store && apart)
        throw usage_error("transport peer-store with operator lra-rc and format merge or cusparse "
                          "would give each device's copy of redundant rows another rounding: "
                          "allowed are copy-engine and nccl, or formats csr and sell");
    return asked;
}

} // namespace krylith
