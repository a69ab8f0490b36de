// How an operator is built: its kind, its format, and how its data cross devices.
#pragma once

#include <krylith/sparse/format.hpp>
#include <krylith/spmv/table/operators.hpp>
#include <krylith/spmv/table/row_orders.hpp>
#include <krylith/spmv/table/transports.hpp>

namespace krylith {

struct operator_options {
    operator_kind kind = operators::automatic;
    format_kind format = formats::automatic;
    /// Arrays that lie on the devices are used in place (csr_part, spmv/matrix_parts.hpp). It has
    /// no effect on matrices in host memory.
    bool borrow = false;
    /// On several devices, candidates are timed. With operators::automatic these are the
    /// operators that the model ranks within 30% of the best: each is built and timed, and the
    /// fastest is kept, and remembered for this pattern and machine (matrix/files/tuning_file.hpp);
    /// lra and lra-rc use tuned fractions if these were found before. With lra and lra-rc the
    /// fractions that are -1 are tuned (spmv/tuning/fraction_trial.hpp). Refused for other kinds,
    /// and where no fraction is -1. It costs a second or so and up to nine setups.
    bool measure = false;
    /// Keeps 8 bytes a nonzero in host memory for update(). Refused for csr_part and coo_part, and
    /// for matrices that are not square.
    reordering order = orders::none;
    /// Keeps the transposed matrix too, for matrix_operator::apply_transposed(): twice the memory
    /// on the devices, and 8 bytes a nonzero in host memory for update(). The transposed operator
    /// is of the same kind and format; for pcsr and pcoo of a csr_view it is pcsc, for pcsc pcsr,
    /// so that devices keep the entries that they have. Refused for csr_part and coo_part.
    bool transposed_products = false;
    /// The transport of nz, 2nz, lra and lra-rc; for all other kinds it must be automatic.
    transport_kind transport = transports::automatic;
    /// Rows of the long block / rows, for lra and lra-rc; -1: usual_fractions().
    double long_fraction = -1;
    /// Rows that every device computes / rows, for lra-rc; -1: usual_fractions().
    double redundant_fraction = -1;
    /// Rows that stay together, as those of the unknowns of a node: the rows of a device begin at
    /// multiples of it. 1: nothing is known; nodes that the pattern shows (find_block_size()) stay
    /// together all the same. No effect on csr_part and coo_part, on given layouts, on orders other
    /// than none, and on pcsr, pcsc and pcoo.
    int block_size = 1;
};

} // namespace krylith
