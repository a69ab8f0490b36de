#include <krylith/matrix/csc.hpp>

#include <krylith/matrix/compressed/compressed_check.hpp>

namespace krylith {

template <class T>
void validate(const csc_view<T>& matrix) {
    check_compressed(csc_names, matrix.columns, matrix.rows, matrix.column_offsets,
                     matrix.row_indices, matrix.values.size());
}

#define KRYLITH_INSTANTIATE(T) template void validate(const csc_view<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
