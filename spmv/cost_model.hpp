// Predicts the time of a CG iteration with each operator, from counts of the matrix and the rates
// of the machine. It is arithmetic that needs no device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/matrix/types/longest_row.hpp>
#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/spmv/fractions/fraction_search.hpp>
#include <krylith/spmv/machine_rates.hpp>
#include <krylith/spmv/table/operator_method.hpp>

namespace krylith {

struct cut_statistics;
struct resident_matrix;

/// Counts of a matrix that is partitioned over some number of devices.
struct pattern_statistics {
    struct part {
        std::int64_t rows = 0;
        std::int64_t nonzeros = 0;
        std::int64_t ghosts = 0;        ///< entries of other devices that its rows reference
        std::int64_t sent = 0;          ///< entries that other devices reference, once for each of
                                        ///< them
        std::int64_t boundary_rows = 0; ///< rows that reference ghosts
        double scattered = 0;           ///< fraction of nonzeros whose entry of x only they need
    };
    std::int64_t longest_row = 0; ///< nonzeros
    std::int64_t value_bytes = 8;
    std::vector<part> parts; ///< one for each device
    /// The same where entries are cut equally within rows; null: operators that do that aren't
    /// predicted.
    std::shared_ptr<const cut_statistics> cut = nullptr;

    [[nodiscard]] std::int64_t rows() const;
};

/// Counts of a matrix whose entries are divided equally, cut within rows (operator pcsr).
struct cut_statistics {
    std::vector<pattern_statistics::part> parts; ///< nonzeros are those that a device holds
    std::vector<bool> has_remote_row;            ///< its first row began on an earlier device,
                                                 ///< which owns it
    std::vector<std::int64_t> partial_sums;      ///< that others send the device
    std::int64_t longest_row = 0; ///< nonzeros of the longest row, or of what a device has of it
};

/// Counts what predict() needs. `longest` is what validate() of the matrix returned. A nonzero is
/// scattered if the next row has none within a sector (32 bytes) of its entry of x; 256 rows of
/// each part are sampled, with 32 nonzeros each. O(devices log rows), and O(nnz) where rows can't
/// be divided into about equal nonzeros (spmv/cost/cut_statistics.hpp).
[[nodiscard]] pattern_statistics measure_pattern(const halo_plan& plan,
                                                 std::span<const std::int64_t> row_offsets,
                                                 std::span<const std::int32_t> column_indices,
                                                 const longest_row& longest,
                                                 std::int64_t value_bytes);

/// Counts the same of a pattern that lies on devices, but nothing of cuts within rows: operators
/// that make them need the matrix in host memory. The sampled rows travel.
[[nodiscard]] pattern_statistics
measure_pattern(const halo_plan& plan, const resident_matrix& matrix, std::int64_t value_bytes);

/// The seconds of one iteration of CG: a product and the vector work.
struct prediction {
    std::string name; ///< the operator's in its table (operators::all)
    int devices = 1;
    double seconds = 0;
};

/// The rows that lra-rc computes twice to send fewer results.
struct redundancy {
    double fraction = 0; ///< fraction of the entries that every device computes for itself: 0 to 1
};

/// Predicts the operators that have a model (operator_method::seconds) on statistics.parts.size()
/// devices, fastest first, and equal ones in the order of their table. On one device all are the
/// same, so only halo is returned. With v bytes a value, p devices, rates R of products, V of
/// vectors, I of stores and t_f(p) a phase:
///
///     P       = max over devices of max((v + 4 + 40 scattered) nnz + v (2 rows + ghosts), longest
///               row) / R
///     halo    = P + (8 v rows + 44 sent) / V + max(0, 1 us + v ghosts / I - interior) + 3 t_f
///     allgather = P + 3 v rows / V + max(5 v rows / V, v (n - rows) / I) + 3 t_f
///     nz, 2nz, lra = beside(P, v (n - rows) / I) + 8 v n / V + 3 t_f
///     lra-rc  = beside(P', (1 - d) v (n - rows) / I) + 8 v n / V + 3 t_f
///     pcsr    = P'' + (8 v rows + 44 sent) / V + max(0, 1 us + v (ghosts + sums) / I - interior)
///               + 3 t_f + t_f if a row is cut
///
/// where beside(a, b) = max(a, b) + 0.1 min(a, b), `interior` is the product's time for rows
/// without ghosts, 44 bytes are what an entry of a send list costs its sender (the entry and a
/// scattered sector), and P' also multiplies the fraction d of all other rows. P'' is P of a cut
/// into equal entries, where a device with a part of a row that another owns multiplies that part
/// first, by a kernel of its own and with nothing to hide ghosts under, and sends the owner one of
/// its `sums`. pcsr is never the fastest where rows can be divided evenly: it has a phase more than
/// halo. pcsc isn't predicted, since only a plan of all entries, as costly as building it, says how
/// many partial sums it sends; pcoo of a matrix by rows is pcsr. Throws usage_error
/// for statistics without parts, a fraction outside 0 to 1, or unusable rates.
[[nodiscard]] std::vector<prediction> predict(const pattern_statistics& statistics,
                                              const machine_rates& rates, redundancy lra_rc = {});

/// Another operator replaces halo only where it is predicted, or timed, to take less than this
/// fraction of halo's time: predictions were off by up to 11% on two H200s, and by a factor of up
/// to 2 on four where x is scattered; times of short trials vary too.
inline constexpr double clearly_faster = 0.9;

/// Returns the first of these operators, or halo where halo is not clearly slower. The list must
/// not be empty.
[[nodiscard]] const prediction& clear_choice(std::span<const prediction> fastest_first);

/// What operators::automatic, or operator_options::measure, chose, and why.
struct operator_choice {
    std::vector<prediction> predictions;      ///< the candidates, fastest first
    std::vector<prediction> measured;         ///< with operator_options::measure; fastest first
    std::optional<fraction_choice> fractions; ///< fractions of lra and lra-rc, where they are tuned
    std::string because;                      ///< a sentence without full stop
    std::string rates_from;                   ///< known_rates::from
};

/// Returns text such as "halo 18.2 us, nz 40.1 us".
[[nodiscard]] std::string in_words(std::span<const prediction> predictions);

/// Returns the operators that can be built, as the cost model ranks them (predict()): first the one
/// that operators::automatic takes (clear_choice()), then the others, fastest first.
[[nodiscard]] std::vector<operator_kind> ranked_operators(const pattern_statistics& statistics,
                                                          const machine_rates& rates);

} // namespace krylith
