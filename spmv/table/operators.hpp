// How the parts of a product get to the devices that need them: the table of operators.
//
// Another operator is a folder beside spmv/halo/ with its row (spmv/table/operator_method.hpp
// has the fields), and three lines here.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include <krylith/config.hpp>
#include <krylith/spmv/table/operator_method.hpp>

namespace krylith {

/// The rows, each in the folder of its operator.
namespace operator_rows {
extern const operator_method halo;
extern const operator_method nz;
extern const operator_method two_nz;
extern const operator_method lra;
extern const operator_method lra_rc;
extern const operator_method allgather;
extern const operator_method pcsr;
extern const operator_method pcsc;
extern const operator_method pcoo;
#if KRYLITH_HAVE_SPMSPV
extern const operator_method adaptive;
#endif
} // namespace operator_rows

/// What operator_options::kind may be.
namespace operators {

/// halo, or what is clearly faster by the cost model (cost_model.hpp).
inline constexpr operator_kind automatic;
/// Vectors owned; only entries that other devices reference are sent.
inline constexpr operator_kind halo(operator_rows::halo);
/// Vectors replicated; each device multiplies its rows and sends them to all others.
inline constexpr operator_kind nz(operator_rows::nz);
/// Like nz, in two blocks: the first travels while the second is computed.
inline constexpr operator_kind two_nz(operator_rows::two_nz);
/// Like nz, short rows first, so that many results travel under the long rows.
inline constexpr operator_kind lra(operator_rows::lra);
/// Like lra, but every device computes some rows instead of sending them.
inline constexpr operator_kind lra_rc(operator_rows::lra_rc);
/// Vectors owned; all entries of a domain vector are sent to all devices as it is written.
inline constexpr operator_kind allgather(operator_rows::allgather);
/// Vectors owned; each device multiplies equally many nonzeros, cut within rows, and the owner of
/// a row adds up what several devices have of it (spmv/nonzero_split/nonzero_split_operator.hpp).
inline constexpr operator_kind pcsr(operator_rows::pcsr);
/// Like pcsr, cut within columns: few entries of x are sent, but many partial sums of y.
inline constexpr operator_kind pcsc(operator_rows::pcsc);
/// For a csr_view like pcsr; for a coo_matrix the entries in their given order.
inline constexpr operator_kind pcoo(operator_rows::pcoo);
#if KRYLITH_HAVE_SPMSPV
/// Like halo, but while x is sparse only columns where it has entries are multiplied, which the
/// host decides before each product: no recorded loops
/// (spmv/column_adaptive/column_adaptive_matrix.hpp).
inline constexpr operator_kind adaptive(operator_rows::adaptive);

inline constexpr std::array all = {halo,      nz,   two_nz, lra,  lra_rc,
                                   allgather, pcsr, pcsc,   pcoo, adaptive};
#else
inline constexpr std::array all = {halo, nz, two_nz, lra, lra_rc, allgather, pcsr, pcsc, pcoo};
#endif

/// The operator that automatic takes on one device, and wherever no other is clearly faster.
inline constexpr operator_kind usual = halo;

} // namespace operators

/// Throws usage_error naming the nearest valid name.
[[nodiscard]] operator_kind parse_operator_kind(std::string_view name);
/// The names that parse_operator_kind() accepts: auto, then the rows in the order of the table.
[[nodiscard]] std::span<const std::string_view> operator_names();

} // namespace krylith
