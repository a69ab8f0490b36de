// What other libraries take for C = A B.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <krylith/device/device.hpp>
#include <krylith/matrix/csr.hpp>

namespace krylith::bench {

/// Medians in seconds; 0 where something was not measured, and why is in the note.
struct spgemm_peer_times {
    std::string name;
    double whole = 0;   ///< with all allocations
    double numeric = 0; ///< new values on a pattern that is known
    std::string note = {};
};

/// The times of cuSPARSE on a CUDA device (cusparseSpGEMM by its default algorithm, and
/// cusparseSpGEMMreuse_compute), else those of Eigen on one thread (it has no other).
template <class T>
[[nodiscard]] spgemm_peer_times time_spgemm_peer(const std::shared_ptr<device>& on, int repeats,
                                                 const csr_matrix<T>& a, const csr_matrix<T>& b);

/// Defined where KRYLITH_HAVE_CUDA is 1.
template <class T>
[[nodiscard]] spgemm_peer_times cusparse_spgemm_times(const std::shared_ptr<device>& on,
                                                      int repeats, const csr_matrix<T>& a,
                                                      const csr_matrix<T>& b);

} // namespace krylith::bench
