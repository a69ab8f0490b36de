// What most programs need, in one header: devices, matrices and their files, operators, vectors,
// preconditioners and solvers. A file that includes it compiles in 1.2 s, one with the header of cg
// alone in 1.1 s. Graphs, the gallery, products with sparse vectors, streamed products and adapters
// have headers of their own (docs/api.md).
//
// The names work beside `using namespace std` with three exceptions, which are names of std, too:
// write distributed_vector for krylith's vector, and krylith::identity and krylith::execution.
#pragma once

#include <krylith/config.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/matrix/matrix_market.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/chebyshev.hpp>
#include <krylith/precond/equilibration.hpp>
#include <krylith/precond/ic0.hpp>
#include <krylith/precond/ilu0.hpp>
#include <krylith/precond/ilut.hpp>
#include <krylith/precond/incomplete/elimination_order.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/precond/own_preconditioner.hpp>
#include <krylith/precond/rigid_body_modes.hpp>
#include <krylith/precond/spai.hpp>
#include <krylith/solvers/automatic.hpp>
#include <krylith/solvers/bicgstab.hpp>
#include <krylith/solvers/bicgstab_l.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/column_solver.hpp>
#include <krylith/solvers/fcg.hpp>
#include <krylith/solvers/fgmres.hpp>
#include <krylith/solvers/gmres.hpp>
#include <krylith/solvers/idr.hpp>
#include <krylith/solvers/lsqr.hpp>
#include <krylith/solvers/minres.hpp>
#include <krylith/solvers/persistent_cg.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/spmv/matrix_free.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/spmv/operator_facts.hpp>
#include <krylith/vector/fused.hpp>
#include <krylith/vector/vector.hpp>
