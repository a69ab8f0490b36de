// The row of an operator in the table of operators (spmv/table/operators.hpp): what krylith must
// know of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include <krylith/device/tables/required.hpp>
#include <krylith/device/tables/table_choice.hpp>
#include <krylith/spmv/table/transport_method.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith {

struct halo_plan;
class iteration_model;
template <class T>
class matrix_operator;
struct operator_method;
struct operator_pattern;
template <class T>
struct operator_subject;

using operator_kind = table_choice<operator_method>;

/// A function that makes the operator of a kind.
template <class T>
using operator_maker = std::unique_ptr<matrix_operator<T>> (*)(operator_kind, operator_subject<T>&);

struct operator_makers {
    operator_maker<double> fp64;
    operator_maker<float> fp32;

    template <class T>
    [[nodiscard]] constexpr operator_maker<T> of() const noexcept {
        if constexpr (std::is_same_v<T, double>)
            return fp64;
        else
            return fp32;
    }
};

/// Which fractions of the rows an operator has that a caller or a trial can choose
/// (operator_options).
struct operator_fractions {
    bool long_rows = false;
    bool redundant = false;

    [[nodiscard]] constexpr bool any() const noexcept { return long_rows || redundant; }
};

struct operator_method {
    static constexpr std::string_view what = "operator";
    static constexpr std::string_view default_name = "auto";

    required_text name;
    name_list aliases = name_list::none(); ///< what others call it, in lower case
    required_text help;                    ///< a clause, such as "sends what others need"
    required<coherence> vectors;
    required<sent_data> sends;
    operator_fractions fractions = {};
    /// Why it needs the matrix in host memory, after "since". Empty: it also takes a matrix that
    /// lies on the devices.
    required_text needs_host_because = "";
    /// Whether its devices have other entries than those of the rows that they own. The host, which
    /// plans who has which, then needs the offsets of all rows.
    bool deals = false;
    /// The operator whose devices keep of the transposed matrix the entries that this one's keep of
    /// the matrix, or its own row: operator_options::transposed_products.
    required<const operator_method*> transposed;
    /// Why no recorded loop contains it, after "since"; empty: one may, if its format can be
    /// recorded.
    required_text eager_because = "";
    /// Whether all devices must be of one process, and have one driver (comm/communicator.hpp):
    /// with several it throws usage_error.
    required<bool> one_process;
    bool persistent = false; ///< whether persistent CG can run it on several devices
    /// Whether `krylith recommend` tries it and `krylith info` lists its needs, where `received`
    /// tells them: one for each way of sending.
    bool listed = false;
    required<bool> compared; ///< whether `krylith bench spmv --operator all` measures it
    /// Predicts the seconds of an iteration of CG on several devices, nothing where the statistics
    /// lack what it needs; null: the cost model doesn't know it, and operators::automatic doesn't
    /// take it.
    std::optional<double> (*seconds)(const iteration_model&) = nullptr;
    /// Why `seconds` is null, after "since"; else empty.
    required_text not_predicted_because = "";
    /// Returns the entries that a rank receives for a product, if rows are those of the halo plan;
    /// null: they follow from the operator's own plan only (matrix_operator::received()).
    std::int64_t (*received)(const halo_plan&, int rank) = nullptr;
    /// Plans what build() plans and drops it: for the cost of planning.
    required<void (*)(operator_kind, operator_pattern&)> plan;
    required<operator_makers> build;
};

/// Whether operator_options::transport may be this one for an operator.
[[nodiscard]] inline bool takes(operator_kind kind, transport_kind transport) {
    return kind->sends == transport->carries;
}

} // namespace krylith
