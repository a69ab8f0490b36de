// The memory that a hierarchy keeps.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <krylith/precond/amg/hierarchy.hpp>

namespace krylith::detail {

template <class W>
std::int64_t hierarchy<W>::bytes() const {
    std::int64_t sum = given_.bytes();
    for (const multigrid_level<W>& level : levels_) {
        sum += level.matrix.bytes() + level.prolongation.bytes() + level.restriction.bytes() +
               level.spread.bytes();
        const auto add = [&](const auto& of, bool has_arrays_of_others) {
            if (!of || has_arrays_of_others) return;
            std::int64_t most = 0;
            for (const int rank : level.layout->comm.local())
                most = std::max(most, of->matrix_bytes(rank));
            sum += most;
        };
        add(level.b, level.matrix_is_read);
        add(level.prolong, level.prolongation_is_read);
        add(level.restrict, level.restriction_is_read);
        add(level.inverse, false);
        add(level.copy, false);
        std::size_t most = 0;
        for (std::size_t rank = 0; rank < level.scaling.s.size(); ++rank)
            most = std::max(most, level.scaling.s[rank].size() * sizeof(double) +
                                      level.near_null[rank].size() * sizeof(W));
        sum += static_cast<std::int64_t>(most);
        if (!level.plans) continue;
        const level_plans<W>& plans = *level.plans;
        if (plans.first) sum += plans.first->bytes() + plans.second->bytes();
        if (plans.transposition) sum += plans.transposition->bytes();
        sum += plans.to_next->bytes() + plans.between.bytes() +
               (plans.sparse ? plans.sparse->bytes() : 0) +
               (plans.unsymmetric ? plans.unsymmetric->bytes() : 0);
    }
    return sum;
}

#define KRYLITH_INSTANTIATE(T) template std::int64_t hierarchy<T>::bytes() const;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
