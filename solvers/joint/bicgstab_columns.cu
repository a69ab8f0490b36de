// The passes of BiCGStab for several right-hand sides on GPUs.
#include <krylith/solvers/joint/bicgstab_columns.hpp>
#include <krylith/solvers/joint/column_pass.cuh>

namespace krylith::cuda {

using bicgstab_diagonal = bicgstab_columns<false>;
using bicgstab_applied = bicgstab_columns<true>;

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct column_passes<                                                                 \
        T, bicgstab_diagonal::start<false>, bicgstab_diagonal::start<true>,                        \
        bicgstab_diagonal::multiply_p, bicgstab_diagonal::halve, bicgstab_diagonal::multiply_s,    \
        bicgstab_diagonal::finish, bicgstab_diagonal::turn, bicgstab_applied::start<false>,        \
        bicgstab_applied::start<true>, bicgstab_applied::multiply_p, bicgstab_applied::halve,      \
        bicgstab_applied::multiply_s, bicgstab_applied::finish, bicgstab_applied::turn,            \
        normalise<bicgstab_applied, residual_squares, bicgstab_applied::p, bicgstab_applied::t>,   \
        normalise<bicgstab_applied, own_squares<bicgstab_applied::pp>, bicgstab_applied::p,        \
                  bicgstab_applied::t>,                                                            \
        normalise<bicgstab_applied, own_squares<bicgstab_applied::ss>, bicgstab_applied::r,        \
                  bicgstab_applied::t>>;                                                           \
    template struct column_tests<T, bicgstab_diagonal, bicgstab_applied>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
