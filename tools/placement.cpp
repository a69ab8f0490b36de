#include <krylith/tools/placement.hpp>

#include <algorithm>
#include <cstdint>
#include <thread>

#include <fmt/format.h>

namespace krylith::tool {

namespace {

/// Measured on H200 with a 7-point stencil: 64^3 rows on four devices, 65000 each, gain nothing
/// over one; 128^3 on four, 500000 each, run 2.5 times as fast.
constexpr std::int64_t worthwhile_rows = 250'000;

void warn_of_small_parts(const layout& where, std::vector<std::string>& warnings) {
    const int p = where.group.size();
    int idle = 0;
    std::int64_t least = where.size();
    for (int rank = 0; rank < p; ++rank) {
        const std::int64_t rows = where.rows.owned(rank).size();
        least = std::min(least, rows);
        if (rows == 0) ++idle;
    }
    if (p == 1) return;
    if (idle != 0)
        warnings.push_back(fmt::format("{} of {} devices own no rows", idle, p));
    else if (where.group.kind() == backend::cuda && least < worthwhile_rows)
        warnings.push_back(fmt::format("a device owns only {} rows: below about {}, fewer devices "
                                       "are about as fast",
                                       least, worthwhile_rows));
}

} // namespace

template <class T>
std::string why_operator(const matrix_operator<T>& a, const operator_options& asked) {
    if (asked.kind != operator_kind::automatic) return "as asked for";
    if (a.share_layout()->group.size() == 1) return "auto: one device, nothing moves";
    if (a.kind() == operator_kind::nz)
        return "auto: some device would need too many entries of others, so all are replicated";
    std::int64_t most = 0;
    for (int rank = 0; rank < a.share_layout()->group.size(); ++rank)
        most = std::max(most, a.received(rank));
    return fmt::format("auto: no device needs more than {} entries of others, {:.2g}% of the rows",
                       most,
                       100.0 * static_cast<double>(most) /
                           static_cast<double>(std::max<std::int64_t>(1, a.size())));
}

template <class T>
std::string why_transfer(const matrix_operator<T>& a, const operator_options& asked) {
    const device_group& group = a.share_layout()->group;
    if (group.size() == 1) return "one device, nothing moves";
    if (asked.transfer != transfer_kind::automatic) return "as asked for";
    if (a.transfer() == transfer_kind::stores)
        return "auto: every device reaches the memory of the others";
    if (group.concurrent())
        return "auto: redundant rows must be blocks of their own for local kernel " +
               a.local_name();
    return "auto: " + group.serialised_because();
}

std::vector<std::string> placement_warnings(const layout& where) {
    std::vector<std::string> warnings;
    if (!where.group.concurrent())
        warnings.push_back("devices wait for the host between operations: " +
                           where.group.serialised_because());
    warn_of_small_parts(where, warnings);
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    if (where.group.kind() == backend::host && where.group.size() > cores)
        warnings.push_back(
            fmt::format("{} host devices share {} cores", where.group.size(), cores));
    return warnings;
}

template std::string why_operator(const matrix_operator<double>&, const operator_options&);
template std::string why_operator(const matrix_operator<float>&, const operator_options&);
template std::string why_transfer(const matrix_operator<double>&, const operator_options&);
template std::string why_transfer(const matrix_operator<float>&, const operator_options&);

} // namespace krylith::tool
