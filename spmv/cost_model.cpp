#include <krylith/spmv/cost_model.hpp>

#include <algorithm>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/distributed/source/resident_matrix.hpp>
#include <krylith/distributed/source/scattered_entries.hpp>
#include <krylith/spmv/cost/cut_statistics.hpp>
#include <krylith/spmv/cost/iteration_model.hpp>
#include <krylith/spmv/table/operators.hpp>

namespace krylith {

std::int64_t pattern_statistics::rows() const {
    std::int64_t sum = 0;
    for (const part& p : parts) sum += p.rows;
    return sum;
}

namespace {

/// The counts of a device, whose rows have so many nonzeros, of which a fraction is scattered.
pattern_statistics::part counts_of(const halo_plan& plan, int part, std::int64_t nonzeros,
                                   double scattered) {
    const std::int64_t rows = plan.rows.owned(part).size();
    return {rows,
            nonzeros,
            plan.ghost_count(part),
            plan.send_count(part),
            rows - plan.boundary[static_cast<std::size_t>(part)].interior_rows,
            scattered};
}

} // namespace

pattern_statistics measure_pattern(const halo_plan& plan, const resident_matrix& matrix,
                                   std::int64_t value_bytes) {
    pattern_statistics s;
    s.value_bytes = value_bytes;
    s.longest_row = matrix.longest().nonzeros;
    std::vector<double> scattered(matrix.parts.size());
    on_each_rank(matrix.comm, [&](int rank) {
        scattered[static_cast<std::size_t>(rank)] = scattered_fraction(matrix, rank, value_bytes);
    });
    for (int part = 0; part < plan.rows.ranks(); ++part) {
        const auto at = static_cast<std::size_t>(part);
        s.parts.push_back(counts_of(plan, part, matrix.parts[at].lengths.nonzeros, scattered[at]));
    }
    return s;
}

pattern_statistics measure_pattern(const halo_plan& plan, std::span<const std::int64_t> row_offsets,
                                   std::span<const std::int32_t> column_indices,
                                   const longest_row& longest, std::int64_t value_bytes) {
    pattern_statistics s;
    s.value_bytes = value_bytes;
    s.longest_row = longest.nonzeros;
    for (int part = 0; part < plan.rows.ranks(); ++part) {
        const row_range owned = plan.rows.owned(part);
        s.parts.push_back(
            counts_of(plan, part,
                      row_offsets[static_cast<std::size_t>(owned.end)] -
                          row_offsets[static_cast<std::size_t>(owned.begin)],
                      scattered_fraction(owned, row_offsets, column_indices, value_bytes)));
    }
    if (s.parts.size() > 1)
        s.cut =
            std::make_shared<cut_statistics>(measure_cut(s, row_offsets, column_indices, longest));
    return s;
}

std::vector<prediction> predict(const pattern_statistics& statistics, const machine_rates& rates,
                                redundancy lra_rc) {
    check(rates);
    if (statistics.parts.empty())
        throw usage_error("predict: the statistics have no parts, must have one a device");
    if (!(lra_rc.fraction >= 0 && lra_rc.fraction <= 1))
        throw usage_error("predict: the redundant fraction is " + number_text(lra_rc.fraction) +
                          ", must be 0 to 1");
    const iteration_model model(statistics, rates, lra_rc.fraction);
    const auto devices = static_cast<int>(statistics.parts.size());
    if (devices == 1)
        return {{to_string(operators::usual), 1, operators::usual->seconds(model).value()}};
    std::vector<prediction> result;
    for (const operator_kind kind : operators::all) {
        if (kind->seconds == nullptr) continue;
        const std::optional<double> seconds = kind->seconds(model);
        if (seconds) result.push_back({to_string(kind), devices, *seconds});
    }
    std::ranges::stable_sort(result, {}, &prediction::seconds);
    return result;
}

const prediction& clear_choice(std::span<const prediction> fastest_first) {
    const prediction& first = fastest_first.front();
    const auto usual = std::ranges::find(
        fastest_first, std::string_view(to_string(operators::usual)), &prediction::name);
    if (usual == fastest_first.end() || first.seconds < clearly_faster * usual->seconds)
        return first;
    return *usual;
}

std::string in_words(std::span<const prediction> predictions) {
    std::string words;
    for (const prediction& p : predictions) {
        const bool milli = p.seconds >= 1e-3; // or more: three digits need no power of ten
        words += (words.empty() ? "" : ", ") + p.name + ' ' +
                 number_text(p.seconds * (milli ? 1e3 : 1e6), 3) + (milli ? " ms" : " us");
    }
    return words;
}

} // namespace krylith
