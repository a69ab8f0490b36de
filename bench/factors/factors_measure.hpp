// Where the time goes from a matrix on the devices to factors without fill, and to solutions by
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/bench/common/workload.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/precond/incomplete/elimination_order.hpp>

namespace krylith::bench {

/// A step that is measured, and the seconds of each repetition.
struct factors_phase {
    std::string name;
    std::vector<double> seconds;
};

/// The phases of a repetition, in the order in which they come first.
class factors_phases {
public:
    void note(const std::string& name, double seconds);
    [[nodiscard]] const std::vector<factors_phase>& all() const { return phases_; }
    /// Null where there is none of that name.
    [[nodiscard]] const factors_phase* find(const std::string& name) const;

private:
    std::vector<factors_phase> phases_;
};

struct factors_numbers {
    std::string preconditioner; ///< its name, with the order that was taken
    std::string reason;         ///< why, and how solves go
    int colours = 0;
    std::int64_t nonzeros = 0;
    std::int64_t bytes = 0;   ///< that it keeps on a device
    factors_phases phases;    ///< construction, update, application; and the steps of the former
    double factors_error = 0; ///< max |(L U)_ij - a_ij| / max |a_ij| on sampled rows of the pattern
    std::vector<std::string> void_because;
};

/// ILU(0) in one order. The clock runs from csr_parts on the devices: *construction* is all that
/// the constructor does, *update* new values on the pattern, *application* one M^-1 r. The steps of
/// a construction (copy, colours, layout, elimination, triangles) are measured apart, one after the
/// other, where the order is not `automatic`. Rows are void where L U is not A on the pattern, and
/// where applications of two factorisations, or of new values that are the old ones, differ in a
/// bit.
[[nodiscard]] factors_numbers measure_factors(const device_group& group, const workload& w,
                                              elimination_order order, int repetitions);

struct solve_numbers {
    std::string preconditioner; ///< "none", or its name
    std::int64_t iterations = 0;
    double relative_residual = 0; ///< ||b - A x|| / ||b|| of the downloaded x, on the CPU
    factors_phases phases;        ///< set-up of the preconditioner, solve
    std::vector<std::string> void_because;
};

/// CG with the preconditioner that the text makes ("none", "jacobi", "ic0:order=colours").
[[nodiscard]] solve_numbers measure_solve(const device_group& group, const workload& w,
                                          const std::string& preconditioner, double rtol,
                                          int repetitions);

} // namespace krylith::bench
