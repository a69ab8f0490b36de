// The contract of a gather plan, written as plainly as possible: the oracle of its builder.
#include <krylith/partition/allgather/allgather_plan.hpp>

#include <krylith/device/error.hpp>

#include <cstddef>
#include <string>

namespace krylith {
namespace {

using std::to_string;

[[noreturn]] void violated(int part, const std::string& what) {
    throw usage_error("gather_plan: part " + to_string(part) + ": " + what);
}

void check_rows(const gather_plan& plan, int part, std::span<const std::int64_t> row_offsets,
                std::span<const std::int32_t> columns) {
    const row_range owned = plan.partition.owned(part);
    const auto& mine = plan.parts[static_cast<std::size_t>(part)];
    if (static_cast<std::int64_t>(mine.touches_ghost.size()) != owned.size())
        violated(part, "classifies " + to_string(mine.touches_ghost.size()) + " rows, must be " +
                           to_string(owned.size()));
    std::int64_t interior = 0;
    for (std::int64_t row = owned.begin; row < owned.end; ++row) {
        bool touches = false;
        for (std::int64_t k = row_offsets[static_cast<std::size_t>(row)];
             k < row_offsets[static_cast<std::size_t>(row) + 1]; ++k)
            if (!owned.contains(columns[static_cast<std::size_t>(k)])) touches = true;
        if (!touches) ++interior;
        const int said = mine.touches_ghost[static_cast<std::size_t>(row - owned.begin)];
        if (said != (touches ? 1 : 0))
            violated(part, "row " + to_string(row) + " is marked " + to_string(said) +
                               ", must be " + (touches ? "1" : "0"));
    }
    if (mine.interior_rows != interior)
        violated(part, "has " + to_string(mine.interior_rows) + " interior rows, must be " +
                           to_string(interior));
}

void check_positions(const gather_plan& plan, int part) {
    std::int64_t covered = 0;
    if (plan.partition.owned(part).size() != 0)
        for (int owner = 0; owner < plan.partition.parts(); ++owner) {
            const std::int64_t count = plan.partition.owned(owner).size();
            if (owner == part || count == 0) continue;
            if (plan.position(part, owner) != covered)
                violated(part, "the entries of part " + to_string(owner) + " begin at " +
                                   to_string(plan.position(part, owner)) + ", must be " +
                                   to_string(covered));
            covered += count;
        }
    if (plan.ghost_count(part) != covered)
        violated(part, "has " + to_string(plan.ghost_count(part)) + " ghosts, must be " +
                           to_string(covered));
}

} // namespace

void check(const gather_plan& plan, std::span<const std::int64_t> row_offsets,
           std::span<const std::int32_t> columns) {
    check(plan.partition, static_cast<std::int64_t>(row_offsets.size()) - 1);
    const auto parts = static_cast<std::size_t>(plan.partition.parts());
    if (plan.parts.size() != parts)
        throw usage_error("gather_plan: has " + to_string(plan.parts.size()) +
                          " parts, the partition has " + to_string(parts));
    for (int part = 0; part < plan.partition.parts(); ++part) {
        check_rows(plan, part, row_offsets, columns);
        check_positions(plan, part);
    }
}

} // namespace krylith
