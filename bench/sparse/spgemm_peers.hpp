// What other libraries take for C = A B.
#pragma once

#include <cstddef>
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
    double plan = 0;    ///< finding that pattern
    std::string note = {};
};

/// The times of cuSPARSE on a CUDA device (cusparseSpGEMM by its default algorithm, and
/// cusparseSpGEMMreuse_compute), else those of Eigen on one thread (it has no other).
template <class T>
[[nodiscard]] spgemm_peer_times time_spgemm_peer(const std::shared_ptr<device>& on, int repeats,
                                                 const csr_matrix<T>& a, const csr_matrix<T>& b);

/// cuSPARSE's phases of C = A B. It throws device_error, above all where there is too little
/// memory.
class cusparse_spgemm {
public:
    cusparse_spgemm() = default;
    cusparse_spgemm(const cusparse_spgemm&) = delete;
    cusparse_spgemm& operator=(const cusparse_spgemm&) = delete;
    virtual ~cusparse_spgemm() = default;
    /// Computes C from nothing, and gives all memory back.
    virtual void whole() = 0;
    /// Finds the pattern of C and keeps it.
    virtual void prepare_reuse() = 0;
    /// Computes the values of C.
    virtual void reuse() = 0;
    /// The bytes of the buffers of the last whole().
    [[nodiscard]] virtual std::size_t buffer_bytes() const = 0;
};

/// Defined where KRYLITH_HAVE_CUDA is 1. Nonzeros are counted in 32 bits.
template <class T>
[[nodiscard]] std::unique_ptr<cusparse_spgemm>
make_cusparse_spgemm(const std::shared_ptr<device>& on, const csr_matrix<T>& a,
                     const csr_matrix<T>& b);

} // namespace krylith::bench
