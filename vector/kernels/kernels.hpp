// The kernels of vector/: plain arguments, one implementation for host devices (*_host.cpp) and one
// for CUDA (*.cu). All are stream-ordered, take a kernel context and follow its rules
// (kernel_context.hpp).
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/vector/execution/kernel_context.hpp>
#include <krylith/vector/execution/loop_watch.hpp>
#include <krylith/vector/execution/register_post.hpp>
#include <krylith/vector/ghosts/ghost_put.hpp>
#include <krylith/vector/kernels/fused_shape.hpp>

namespace krylith {

/// Operands of a pass over the `size` entries held, which computes in T; dot products count
/// [first_owned, last_owned). Put is the type of the vector whose entries are sent on, which
/// differs from T only in mixed updates.
template <class T, class Put = T>
struct fused_operands {
    fused_shape shape;
    void* vectors[max_fused_vectors]; ///< of float where shape.single says so, else of T
    std::uint8_t coefficients[max_fused_coefficients]; ///< registers
    std::int64_t size;
    std::int64_t first_owned;
    std::int64_t last_owned;
    reduction reduce;
    ghost_put<Put> put;
    std::int32_t put_index; ///< number of the vector whose entries are sent on, or -1

    /// Entries of vector `number`, which is of type U.
    template <class U>
    [[nodiscard]] KRYLITH_HD U* array(int number) const {
        return static_cast<U*>(vectors[number]);
    }
};

template <class T, class Put = T>
struct fused_arguments : fused_operands<T, Put> {
    kernel_context common;
};

/// Operands of products with a basis, whose coefficients are in the array: `count` vectors, by a
/// table in device memory.
template <class T>
struct basis_operands {
    T* const* basis; ///< [count]
    T* w;
    std::int32_t count;
    std::int32_t first; ///< place in kernel_context::array of the first coefficient (axpy)
    bool norm;          ///< axpy: also reduce dot(w, w), 1 value; dot: also after the others
    std::int64_t size;
    std::int64_t first_owned;
    std::int64_t last_owned;
    reduction reduce;
};

template <class T>
struct basis_arguments : basis_operands<T> {
    kernel_context common;
};

/// Operands of delayed_dots and delayed_update (delayed_basis.hpp): `count` vectors of the basis,
/// the last of them u, and for the update one more.
template <class T>
struct delayed_operands {
    T* const* basis; ///< [count], update: [count + 1]
    const T* w;
    std::int32_t count;
    std::int32_t first; ///< place in kernel_context::array of the first coefficient (update)
    std::int64_t size;
    std::int64_t first_owned;
    std::int64_t last_owned;
    reduction reduce;
    ghost_put<T> put; ///< of basis[count]
    bool sends;       ///< update: put, too
};

template <class T>
struct delayed_arguments : delayed_operands<T> {
    kernel_context common;
};

/// Arguments of the kernel that only performs the kernel context. After it one warp ends a trip
/// (loop_watch.hpp), and sets the condition of the loop if `condition` is not 0.
struct scalar_arguments {
    kernel_context common;
    std::uint64_t condition;
    trip_end end;
    register_post post;
};

KRYLITH_HOST_AND_CUDA(
    template <class T, class Put> void fused(device& device, const fused_arguments<T, Put>& a);
    /// Computes reduce <- basis^T w (and w^T w).
    template <class T> void multi_dot(device& device, const basis_arguments<T>& a);
    /// Computes w -= basis * array[first ...] (and reduce <- w^T w).
    template <class T> void multi_axpy(device& device, const basis_arguments<T>& a);
    template <class T> void delayed_dots(device& device, const delayed_arguments<T>& a);
    template <class T> void delayed_update(device& device, const delayed_arguments<T>& a);
    /// Sends a domain vector as it stands.
    template <class T> void put(device& device, const kernel_context& common, const T* domain,
                                std::int64_t size, const ghost_put<T>& put);
    void scalars(device& device, const scalar_arguments& a);)

} // namespace krylith
