// How an operator is built: its kind, its format, and how its data cross devices.
#pragma once

#include <span>
#include <string_view>

#include <krylith/sparse/format.hpp>

namespace krylith {

/// How x gets to the devices that need it.
enum class operator_kind {
    automatic, ///< halo, or what is clearly faster by the cost model (cost_model.hpp)
    nz,        ///< vectors replicated; each device multiplies its rows and sends them to all others
    two_nz,    ///< like nz, in two blocks: the first travels while the second is computed
    lra,       ///< like nz, short rows first, so that many results travel under the long rows
    lra_rc,    ///< like lra, but every device computes some rows instead of sending them
    halo,      ///< vectors owned; only entries that other devices reference are sent
    allgather, ///< vectors owned; all entries of a domain vector are sent to all devices as it is
               ///< written
    pcsr,    ///< vectors owned; each device multiplies equally many nonzeros, cut within rows, and
             ///< the owner of a row adds up what several devices have of it
             ///< (spmv/nonzero_split/nonzero_split_operator.hpp)
    pcsc,    ///< like pcsr, cut within columns: few entries of x are sent, but many partial sums of
             ///< y
    pcoo,    ///< for a csr_view like pcsr; for a coo_matrix the entries in their given order
    adaptive ///< like halo, but while x is sparse only columns where it has entries are multiplied,
             ///< which the host decides before each product: no recorded loops
             ///< (spmv/column_adaptive/column_adaptive_matrix.hpp)
};

/// The order in which the devices have rows and columns. The caller doesn't see it: vectors are
/// uploaded and downloaded, and values updated, in the caller's order.
enum class reordering {
    none,
    rcm,  ///< reverse Cuthill-McKee: coupled rows lie together (partition/ordering/reordering.hpp)
    metis ///< a part for each device with few ghosts, and rcm within
          ///< (partition/ordering/metis_order.hpp)
};

/// How the results of a replicated operator get to the other devices.
enum class transport_kind {
    automatic,   ///< peer_store where all devices reach each other directly, else copy_engine
    peer_store,  ///< the kernel that computes a result stores it into every copy
    copy_engine, ///< copy engines, beside the kernels; no recorded loops
    nccl         ///< grouped ncclSend and ncclRecv, beside the kernels; no recorded loops
};

[[nodiscard]] const char* to_string(operator_kind kind) noexcept;
[[nodiscard]] const char* to_string(reordering order) noexcept;
[[nodiscard]] const char* to_string(transport_kind kind) noexcept;
/// Throws usage_error naming the nearest valid name.
[[nodiscard]] operator_kind parse_operator_kind(std::string_view name);
[[nodiscard]] reordering parse_reordering(std::string_view name);
[[nodiscard]] transport_kind parse_transport_kind(std::string_view name);
/// The names that the parsers accept, each in the order of its enumerators.
[[nodiscard]] std::span<const std::string_view> operator_names() noexcept;
[[nodiscard]] std::span<const std::string_view> order_names() noexcept;
[[nodiscard]] std::span<const std::string_view> transport_names() noexcept;

struct operator_options {
    operator_kind kind = operator_kind::automatic;
    format_kind format = format_kind::automatic;
    /// Arrays that lie on the devices are used in place (csr_part, spmv/matrix_parts.hpp). It has
    /// no effect on matrices in host memory.
    bool borrow = false;
    /// On several devices, candidates are timed. With operator_kind::automatic these are the
    /// operators that the model ranks within 30% of the best: each is built and timed, and the
    /// fastest is kept, and remembered for this pattern and machine (matrix/files/tuning_file.hpp);
    /// lra and lra-rc use tuned fractions if these were found before. With lra and lra-rc the
    /// fractions that are -1 are tuned (spmv/tuning/fraction_trial.hpp). Refused for other kinds,
    /// and where no fraction is -1. It costs a second or so and up to nine setups.
    bool measure = false;
    /// Keeps 8 bytes a nonzero in host memory for update(). Refused for csr_part and coo_part, and
    /// for matrices that are not square.
    reordering order = reordering::none;
    /// Keeps the transposed matrix too, for matrix_operator::apply_transposed(): twice the memory
    /// on the devices, and 8 bytes a nonzero in host memory for update(). The transposed operator
    /// is of the same kind and format; for pcsr and pcoo of a csr_view it is pcsc, for pcsc pcsr,
    /// so that devices keep the entries that they have. Refused for csr_part and coo_part.
    bool transposed_products = false;
    /// The transport of nz, 2nz, lra and lra-rc; for all other kinds it must be automatic.
    transport_kind transport = transport_kind::automatic;
    /// Rows of the long block / rows, for lra and lra-rc; -1: usual_fractions().
    double long_fraction = -1;
    /// Rows that every device computes / rows, for lra-rc; -1: usual_fractions().
    double redundant_fraction = -1;
};

} // namespace krylith
