// How long an iteration of CG takes with each operator, from counts of the matrix and the rates of
// the machine: arithmetic that needs no device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/matrix/compressed/longest_row.hpp>
#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/spmv/machine_rates.hpp>
#include <krylith/spmv/tuning/fraction_search.hpp>

namespace krylith {

/// A matrix assigned to some number of devices.
struct pattern_statistics {
    struct part {
        std::int64_t rows = 0;
        std::int64_t nonzeros = 0;
        std::int64_t ghosts = 0;        ///< entries of others that its rows reference
        std::int64_t sent = 0;          ///< entries that others reference, once for each of them
        std::int64_t boundary_rows = 0; ///< rows that reference ghosts
        double scattered = 0;           ///< share of nonzeros that find their entry of x alone
    };
    std::int64_t longest_row = 0; ///< nonzeros
    std::int64_t value_bytes = 8;
    std::vector<part> parts; ///< one a device

    [[nodiscard]] std::int64_t rows() const;
};

/// `longest` is what validate() of the matrix has returned. O(parts): a nonzero is scattered if
/// the next row has none within a sector of x, 32 bytes, of it; that is looked up for 256 rows of a
/// part, for 32 nonzeros each.
[[nodiscard]] pattern_statistics measure_pattern(const halo_plan& plan,
                                                 std::span<const std::int64_t> row_offsets,
                                                 std::span<const std::int32_t> column_indices,
                                                 const longest_row& longest,
                                                 std::int64_t value_bytes);

/// Seconds of one iteration of CG: a product and the vector work.
struct prediction {
    std::string name; ///< of an operator: "nz", "2nz", "lra", "lra-rc", "halo", "allgather"
    int devices = 1;
    double seconds = 0;
};

/// How lra-rc computes rows twice to send fewer.
struct redundancy {
    double fraction = 0; ///< of the entries, those that every device computes for itself: 0 to 1
};

/// All operators on statistics.parts.size() devices, fastest first; of equals, in the order of
/// their names above, but for one device, where all are the same: halo only. With v bytes a value,
/// p devices, rates R of products, V of vectors, I of stores and t_f(p) a phase:
///
///     P       = max over devices of max((v + 4 + 40 scattered) nnz + v (2 rows + ghosts), longest
///               row) / R
///     halo    = P + (8 v rows + 44 sent) / V + max(0, 1 us + v ghosts / I - interior) + 3 t_f
///     allgather = P + 3 v rows / V + max(5 v rows / V, v (n - rows) / I) + 3 t_f
///     nz, 2nz, lra = beside(P, v (n - rows) / I) + 8 v n / V + 3 t_f
///     lra-rc  = beside(P', (1 - d) v (n - rows) / I) + 8 v n / V + 3 t_f
///
/// where beside(a, b) = max(a, b) + 0.1 min(a, b), `interior` is the product's time for rows
/// without ghosts, 44 bytes are what an entry of a push list costs its sender (the entry, a
/// scattered sector), and P' multiplies the share d of all other rows too. Throws usage_error for
/// statistics without parts, a share outside 0 to 1, or unusable rates.
[[nodiscard]] std::vector<prediction> predict(const pattern_statistics& statistics,
                                              const machine_rates& rates, redundancy lra_rc = {});

/// operator halo is left for another only where that is predicted, or timed, to take less of its
/// time than this: predictions were off by up to 11% on H200s, and times of short trials vary too.
inline constexpr double clearly_faster = 0.9;

/// Which of these operators, fastest first and not none, is taken: the first, or halo where that
/// is not clearly slower.
[[nodiscard]] const prediction& clear_choice(std::span<const prediction> fastest_first);

/// What operator_kind::automatic, or operator_options::measure, took, and why.
struct operator_choice {
    std::vector<prediction> predictions;      ///< of the candidates, fastest first
    std::vector<prediction> measured;         ///< with operator_options::measure; fastest first
    std::optional<fraction_choice> fractions; ///< of lra and lra-rc, where they are tuned
    std::string because;                      ///< a sentence without full stop
    std::string rates_from;                   ///< known_rates::from
};

/// "halo 18.2 us, nz 40.1 us".
[[nodiscard]] std::string in_words(std::span<const prediction> predictions);

} // namespace krylith
