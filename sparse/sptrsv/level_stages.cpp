#include <krylith/sparse/sptrsv/level_stages.hpp>

#include <algorithm>

namespace krylith {

level_stages plan_stages(const rows_by_chain& rows, int parts, std::int64_t wide) {
    level_stages stages;
    stages.parts = parts;
    const auto first_place = [&](std::int64_t chain) {
        return rows.chains[static_cast<std::size_t>(chain)];
    };
    bool alone = false; // whether the last stage is one of thin levels
    for (std::size_t l = 0; l + 1 < rows.levels.size(); ++l) {
        const auto chains = rows.chains.begin();
        const auto first = chains + rows.levels[l];
        const auto last = chains + rows.levels[l + 1];
        const std::int64_t size = *last - *first;
        if (size < wide || last - first < 2) {
            if (!alone)
                stages.borders.resize(stages.borders.size() + static_cast<std::size_t>(parts));
            std::fill(stages.borders.end() - parts, stages.borders.end(), *last);
            alone = true;
            continue;
        }
        for (int p = 1; p < parts; ++p)
            stages.borders.push_back(*std::lower_bound(first, last, *first + size * p / parts));
        stages.borders.push_back(first_place(rows.levels[l + 1]));
        stages.shared += size;
        alone = false;
    }
    return stages;
}

} // namespace krylith
