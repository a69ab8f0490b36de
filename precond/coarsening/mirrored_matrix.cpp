#include <krylith/precond/coarsening/mirrored_matrix.hpp>

#include <krylith/distributed/products/merged_matrix.hpp>
#include <krylith/precond/coarsening/mirror_steps.hpp>

namespace krylith::aggregation {

namespace {

/// Enqueues the step that fills a rank's rows. One lane merges a row.
template <class T>
void fill(const distributed_csr<T>& a, const distributed_csr<T>& transposed, int rank, bool largest,
          const merged_rows& rows, const merged_entries<T>& to) {
    visit_rows(a.comm()[rank], a.block(rank).rows(), 1,
               fill_mirror_step<T>{{},
                                   rows,
                                   a.block(rank).view().values,
                                   transposed.block(rank).view().values,
                                   largest,
                                   to});
}

} // namespace

template <class T>
mirrored_matrix<T>::mirrored_matrix(const distributed_csr<T>& a)
    : transposition_(a),
      transposed_(transposition_.take(a)),
      matrix_(merge(a, transposed_,
                    [&](int rank, const merged_rows& rows, const merged_entries<T>& to) {
                        fill<T>(a, transposed_, rank, true, rows, to);
                    })) {}

template <class T>
void mirrored_matrix<T>::take_transposed(const distributed_csr<T>& a) {
    transposition_.apply(a, transposed_);
    for (const int rank : a.comm().local())
        fill<T>(a, transposed_, rank, false, rows_of_both(a, transposed_, rank),
                {matrix_.block(rank).view().offsets, {}, nullptr, matrix_.block(rank).values()});
}

#define KRYLITH_INSTANTIATE(T) template class mirrored_matrix<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation
