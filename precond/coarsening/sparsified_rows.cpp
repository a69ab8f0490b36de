#include <krylith/precond/coarsening/sparsified_rows.hpp>

#include <krylith/config.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/coarsening/sparsify_steps.hpp>

namespace krylith::aggregation {

namespace {

template <class T>
std::int32_t find_kept_of_row(const sparsified_rows<T>& m, std::int64_t row) {
    const std::int32_t own = m.a.own(row);
    std::int32_t count = 0;
    for (std::int64_t k = m.a.offsets[row]; k < m.a.offsets[row + 1]; ++k) {
        const std::int32_t j = m.a.indices[k];
        const bool kept = j == own || !is_small(m.values[k], m.drop, m.v[own], m.weights[own],
                                                m.v[j], m.weights[j]);
        m.kept[k] = kept ? 1 : 0;
        count += kept ? 1 : 0;
    }
    return count;
}

template <class T>
void fill_row(const sparsified_rows<T>& m, std::int64_t row, std::int64_t at, std::int32_t* columns,
              T* values) {
    const std::int32_t own = m.a.own(row);
    const std::int64_t none = -1;
    std::int64_t diagonal = none;
    long long moved = 0;
    for (std::int64_t k = m.a.offsets[row]; k < m.a.offsets[row + 1]; ++k) {
        const std::int32_t j = m.a.indices[k];
        if (m.kept[k] == 0) {
            moved += units_moved(m.values[k], m.v[j], m.weights[own]);
            continue;
        }
        if (j == own) diagonal = at;
        if (columns != nullptr) columns[at] = j;
        values[at++] = m.values[k];
    }
    if (moved != 0 && diagonal != none)
        values[diagonal] = static_cast<T>(diagonal_with(values[diagonal], moved));
}

} // namespace

template <class T>
void find_kept(device& device, const sparsified_rows<T>& rows, std::int32_t* counts) {
    if (rows.a.rows == 0) return;
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda) return cuda::find_kept(device, rows, counts);
#endif
    host::in_ranges(device, rows.a.rows, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) counts[row] = find_kept_of_row(rows, row);
    });
}

template <class T>
void fill_kept(device& device, const sparsified_rows<T>& rows, const std::int64_t* offsets,
               std::int32_t* columns, T* values) {
    if (rows.a.rows == 0) return;
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda)
        return cuda::fill_kept(device, rows, offsets, columns, values);
#endif
    host::in_ranges(device, rows.a.rows, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row)
            fill_row(rows, row, offsets[row], columns, values);
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void find_kept(device&, const sparsified_rows<T>&, std::int32_t*);                    \
    template void fill_kept(device&, const sparsified_rows<T>&, const std::int64_t*,               \
                            std::int32_t*, T*);

#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation
