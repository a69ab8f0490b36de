// Uniformly random places.
#include <krylith/matrix/gallery/random.hpp>

#include <algorithm>

#include <krylith/matrix/compressed/row_builder.hpp>
#include <krylith/matrix/gallery/argument_check.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/matrix/gallery/edge_weight.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

template <class T>
csr_matrix<T> random_uniform(std::int64_t n, std::int64_t nnz_per_row, std::uint64_t seed) {
    check_argument<std::int64_t>("random", "n", n, 1, index_limit);
    check_argument<std::int64_t>("random", "nnz_per_row", nnz_per_row, 1,
                                 std::min<std::int64_t>(256, n));
    const auto length = [=](std::int64_t) { return nnz_per_row; };
    const auto fill = [=](std::int64_t row, std::int32_t* columns, T* values) {
        std::int32_t* const end = columns + nnz_per_row;
        std::uint64_t drawn = 0;
        // This draws what is missing until no two are the same.
        for (std::int32_t* known = columns; known != end;) {
            for (; known != end; ++known) {
                *known = static_cast<std::int32_t>(
                    below(n, counter_hash(seed, static_cast<std::uint64_t>(row), drawn++)));
            }
            std::sort(columns, end);
            known = std::unique(columns, end);
        }
        for (std::int64_t k = 0; k < nnz_per_row; ++k) {
            values[k] = static_cast<T>(1 - 2 * arc_weight(seed, row, columns[k]));
        }
    };
    return build_by_rows<T>(n, n, length, fill);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> random_uniform(std::int64_t, std::int64_t, std::uint64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
