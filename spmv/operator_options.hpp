// How an operator is to be built: which one, in which format, how its data cross devices.
#pragma once

#include <span>
#include <string_view>

#include <krylith/sparse/format.hpp>

namespace krylith {

/// How x gets to the devices that need it.
enum class operator_kind {
    automatic, ///< halo, or what is clearly faster by the cost model (cost_model.hpp)
    nz,        ///< vectors replicated; each device multiplies its rows and sends them to all others
    two_nz,    ///< the same in two blocks: the first travels while the second is computed
    lra,       ///< the same: short rows first, so that many results travel under the long rows
    lra_rc,    ///< the same, and some rows are computed by every device instead of being sent
    halo,      ///< vectors owned; only the entries that other devices reference move
    allgather, ///< vectors owned; all entries of a domain vector move to all devices as it is
               ///< written
    pcsr,    ///< vectors owned; each device multiplies equally many nonzeros, cut within rows, and
             ///< what a row has on several is added up by its owner (nonzero_split_operator.hpp)
    pcsc,    ///< the same, cut within columns: few entries of x move, and many partial sums of y
    pcoo,    ///< of a csr_view as pcsr; of a coo_matrix the entries as they lie (make_operator of one)
    adaptive ///< as halo; while x is sparse, only columns where it has entries are multiplied, and
             ///< the host looks at x before each product: no recorded loops
             ///< (column_adaptive_matrix.hpp)
};

/// The order in which the devices have rows and columns. It goes unseen: vectors go up and down,
/// and values are updated, in the caller's.
enum class reordering {
    none,
    rcm,  ///< reverse Cuthill-McKee: what is coupled lies together
          ///< (partition/ordering/reordering.hpp)
    metis ///< a part for each device with few ghosts, and rcm inside
          ///< (partition/ordering/metis_order.hpp)
};

/// How results of a replicated operator get to the other devices.
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
/// The names that these accept, each in the order of its enumerators.
[[nodiscard]] std::span<const std::string_view> operator_names() noexcept;
[[nodiscard]] std::span<const std::string_view> order_names() noexcept;
[[nodiscard]] std::span<const std::string_view> transport_names() noexcept;

struct operator_options {
    operator_kind kind = operator_kind::automatic;
    format_kind format = format_kind::automatic;
    /// Use arrays that lie on the devices in place (csr_part, matrix_parts.hpp). No effect on
    /// matrices in host memory.
    bool borrow = false;
    /// On several devices. With operator_kind::automatic those that the model ranks within 30% of
    /// the best are built one after the other and timed, and the fastest is kept, and remembered
    /// for this pattern and machine (tuning_file.hpp); lra and lra-rc with their tuned fractions if
    /// these were found before. With lra and lra-rc the fractions that are -1 are tuned so
    /// (fraction_trial.hpp); refused if none is, and for other kinds. Costs a second or so and up
    /// to nine setups.
    bool measure = false;
    /// Refused for csr_part, coo_part. Keeps 8 bytes a nonzero in host memory, for update().
    reordering order = reordering::none;
    /// Of nz, 2nz, lra and lra-rc; for halo it must be automatic.
    transport_kind transport = transport_kind::automatic;
    /// Of lra and lra-rc: rows of the long block / rows; -1: usual_fractions().
    double long_fraction = -1;
    /// Of lra-rc: rows that every device computes / rows; -1: likewise.
    double redundant_fraction = -1;
};

} // namespace krylith
