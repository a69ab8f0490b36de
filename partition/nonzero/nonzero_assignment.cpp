// Which part holds each entry of a CSR pattern: by ranges of rows' or of columns' entries.
#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/nonzero/nonzero_split_plan.hpp>
#include <krylith/partition/pcsr.hpp>

namespace krylith {

namespace {

void require_parts(const char* who, const nonzero_partition& entries) {
    constexpr int most_parts = 255;
    if (entries.parts() > most_parts)
        throw usage_error(std::string(who) + ": " + std::to_string(entries.parts()) +
                          " parts, allowed are 1 to " + std::to_string(most_parts));
}

} // namespace

row_partition across(const row_partition& owned, std::int64_t count) {
    return owned.rows() == count ? owned : equal_rows(count, owned.ranks());
}

nonzero_assignment assign_by_rows(std::span<const std::int64_t> row_offsets,
                                  std::int64_t column_count, const nonzero_partition& entries) {
    require_parts("assign_by_rows", entries);
    const row_partition rows = make_pcsr(row_offsets, entries).owned();
    nonzero_assignment assigned{rows, across(rows, column_count), {}};
    assigned.holder.resize(as_size(entries.entries()));
    for (int part = 0; part < entries.parts(); ++part)
        std::fill(assigned.holder.begin() + entries.begin[as_size(part)],
                  assigned.holder.begin() + entries.begin[as_size(part + 1)],
                  static_cast<std::uint8_t>(part));
    return assigned;
}

nonzero_assignment assign_by_columns(std::span<const std::int64_t> row_offsets,
                                     std::span<const std::int32_t> columns,
                                     std::int64_t column_count, const nonzero_partition& entries) {
    require_parts("assign_by_columns", entries);
    if (row_offsets.empty()) throw usage_error("assign_by_columns: row_offsets is empty");
    std::vector<std::int64_t> next(as_size(column_count) + 1, 0); // place of the next entry
    for (const std::int32_t column : columns) ++next[as_size(column) + 1];
    for (std::size_t j = 1; j < next.size(); ++j) next[j] += next[j - 1];

    const row_partition owned = make_pcsr(next, entries).owned();
    const auto rows = static_cast<std::int64_t>(row_offsets.size()) - 1;
    nonzero_assignment assigned{across(owned, rows), owned, {}};
    assigned.holder.reserve(columns.size());
    std::vector<std::uint8_t> part_of(next.size() - 1); // the part that the column has come to
    for (std::size_t j = 0; j < part_of.size(); ++j)
        part_of[j] = static_cast<std::uint8_t>(owned.owner(static_cast<std::int64_t>(j)));
    for (const std::int32_t column : columns) {
        const std::int64_t place = next[as_size(column)]++;
        std::uint8_t& part = part_of[as_size(column)];
        while (place >= entries.begin[std::size_t{part} + 1]) ++part;
        assigned.holder.push_back(part);
    }
    return assigned;
}

} // namespace krylith
