#include <krylith/spmv/replicated/replicated_plan.hpp>

#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/device/transport/block_exchange.hpp>

namespace krylith {

namespace {

/// -1: the rule decides.
void check_share(const char* name, double value, bool has_one, const char* owners) {
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
            if (group.path(from, to) == transport::staged) return false;
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
    check_share("long_share", options.long_share, repeats || options.kind == operator_kind::lra,
                "operators lra and lra-rc");
    check_share("redundant_share", options.redundant_share, repeats, "operator lra-rc");
    if (options.long_share + options.redundant_share > 1)
        throw usage_error("long_share and redundant_share are " + number_text(options.long_share) +
                          " and " + number_text(options.redundant_share) +
                          ", together they must be at most 1");
    if (on_devices && is_replicated(options.kind) && options.kind != operator_kind::nz)
        throw usage_error(std::string("operator ") + to_string(options.kind) +
                          " needs the matrix in host memory, since devices compute other rows than "
                          "those that they were given; allowed are nz and halo");
    if (options.transfer == transfer_kind::nccl) require_nccl(group);
}

row_shares shares_by_rule(operator_kind kind, const device_group& group,
                          std::span<const std::int64_t> row_offsets,
                          const operator_options& options) {
    const auto rows = static_cast<std::int64_t>(row_offsets.size()) - 1;
    const double mean = rows == 0 ? 0
                                  : static_cast<double>(row_offsets.back() - row_offsets.front()) /
                                        static_cast<double>(rows);
    row_shares shares =
        usual_shares(mean, group.size(), kind == operator_kind::lra_rc, direct(group));
    if (options.long_share != -1) shares.long_rows = options.long_share;
    if (options.redundant_share != -1) shares.redundant = options.redundant_share;
    // One was given, the usual other one is too much beside it.
    if (shares.long_rows + shares.redundant > 1)
        (options.long_share != -1 ? shares.redundant : shares.long_rows) =
            1 - (options.long_share != -1 ? shares.long_rows : shares.redundant);
    return shares;
}

block_partition plan_blocks(operator_kind kind, const layout& where,
                            std::span<const std::int64_t> row_offsets, const longest_row& longest,
                            const row_shares& shares) {
    const int parts = where.group.size();
    const std::int64_t alignment = row_alignment(where.size(), parts);
    if (kind == operator_kind::nz) return one_block(where.rows);
    if (kind == operator_kind::two_nz) return two_blocks(row_offsets, parts, alignment);
    return long_rows_last(row_offsets, longest, parts, shares, alignment);
}

transfer_kind choose_transfer(const device_group& group, transfer_kind asked, bool apart) {
    if (asked == transfer_kind::nccl) require_nccl(group);
    if (group.size() == 1) return transfer_kind::stores;
    if (asked == transfer_kind::automatic)
        return direct(group) && !apart ? transfer_kind::stores : transfer_kind::copies;
    if (asked == transfer_kind::stores && !direct(group))
        throw usage_error("transfer stores needs devices that reach each other's memory, but " +
                          group.serialised_because() + ": allowed are copies and nccl");
    if (asked == transfer_kind::stores && apart)
        throw usage_error("transfer stores with operator lra-rc and local kernel merge or vendor "
                          "would give each device's copy of redundant rows another rounding: "
                          "allowed are copies and nccl, or local kernels csr and sell");
    return asked;
}

} // namespace krylith
