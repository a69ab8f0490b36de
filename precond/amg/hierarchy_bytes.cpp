// The memory that a hierarchy keeps.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <krylith/precond/amg/hierarchy.hpp>
#include <krylith/precond/amg/level_operators.hpp>

namespace krylith::detail {

template <class W>
std::int64_t hierarchy<W>::bytes() const {
    std::int64_t sum = given_.bytes();
    for (const multigrid_level<W>& level : levels_) {
        sum += level.matrix.bytes();
        // Operators that read the arrays of kept matrices have none of their own.
        const auto add = [&](const auto& of, const distributed_csr<W>* kept) {
            if (!of || (kept != nullptr && kept->rows() != 0 && reads_in_place(of->group(), *kept)))
                return;
            std::int64_t most = 0;
            for (int rank = 0; rank < level.layout->group.size(); ++rank)
                most = std::max(most, of->matrix_bytes(rank));
            sum += most;
        };
        add(level.b, &level.matrix);
        add(level.prolong, level.plans ? &level.plans->prolongation : nullptr);
        add(level.restrict, level.plans ? &level.plans->restriction : nullptr);
        add(level.inverse, nullptr);
        if (level.gathered) {
            add(level.gathered->copy, nullptr);
            sum += level.gathered->matrix.bytes();
        }
        std::size_t most = 0;
        for (std::size_t rank = 0; rank < level.scaling.s.size(); ++rank)
            most = std::max(most, level.scaling.s[rank].size() * sizeof(double) +
                                      level.near_null[rank].size() * sizeof(W));
        sum += static_cast<std::int64_t>(most);
        if (!level.plans) continue;
        const level_plans<W>& plans = *level.plans;
        sum += plans.to_next->bytes() + plans.prolongation.bytes() + plans.transposition.bytes() +
               plans.restriction.bytes() + plans.first.bytes() + plans.between.bytes() +
               plans.second.bytes() + (plans.sparse ? plans.sparse->bytes() : 0) +
               (plans.unsymmetric ? plans.unsymmetric->bytes() : 0);
    }
    return sum;
}

#define KRYLITH_INSTANTIATE(T) template std::int64_t hierarchy<T>::bytes() const;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
