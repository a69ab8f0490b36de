#include <krylith/solvers/joint/column_matrix.hpp>

#include <string>
#include <utility>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

template <class T>
std::unique_ptr<matrix_operator<T>> make_single(const communicator& comm, const csr_view<T>& a,
                                                int block_size) {
    if (a.rows != a.columns)
        throw usage_error("several right-hand sides at once need a square matrix; A is " +
                          std::to_string(a.rows) + " x " + std::to_string(a.columns));
    operator_options options;
    options.kind = operators::halo;
    options.format = formats::csr;
    options.block_size = block_size;
    return make_operator(comm, a, options);
}

} // namespace

template <class T>
column_matrix<T>::column_matrix(const communicator& comm, const csr_view<T>& a, int columns,
                                bool with_jacobi, int block_size)
    : a_(make_single(comm, a, block_size), columns) {
    if (with_jacobi) jacobi_.emplace(a_.single());
}

#define KRYLITH_INSTANTIATE(T) template class column_matrix<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
