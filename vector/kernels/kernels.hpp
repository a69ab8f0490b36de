// The kernels under vector/: plain arguments, one implementation for host devices (*_host.cpp) and
// one for CUDA (*.cu). All are stream-ordered, take a frame and follow its rules
// (kernel_context.hpp).
#pragma once

#include <cstdint>

#include <krylith/device/device.hpp>
#include <krylith/vector/ghosts/ghost_put.hpp>
#include <krylith/vector/kernels/fused_shape.hpp>
#include <krylith/vector/scalar/hessenberg.hpp>
#include <krylith/vector/scalar/kernel_context.hpp>

namespace krylith {

/// A pass over `size` entries held; dots count [first_owned, last_owned).
template <class T>
struct fused_operands {
    fused_shape shape;
    T* vectors[max_fused_vectors];
    std::uint8_t coefficients[max_fused_coefficients]; ///< registers
    std::int64_t size;
    std::int64_t first_owned;
    std::int64_t last_owned;
    reduction reduce;
    ghost_push<T> push;
    std::int32_t pushed; ///< number of the vector whose entries are sent on, or -1
};

template <class T>
struct fused_arguments : fused_operands<T> {
    frame common;
};

/// array-bound products with a basis: count vectors, by table in device memory.
template <class T>
struct basis_operands {
    T* const* basis; ///< [count]
    T* w;
    std::int32_t count;
    std::int32_t first; ///< place in frame::array of the first coefficient (axpy)
    bool norm;          ///< axpy: also reduce dot(w, w), 1 value; dot: also after the others
    std::int64_t size;
    std::int64_t first_owned;
    std::int64_t last_owned;
    reduction reduce;
};

template <class T>
struct basis_arguments : basis_operands<T> {
    frame common;
};

/// Arguments of delayed_dots and delayed_update (delayed_basis.hpp): count vectors of the basis,
/// the last of them u, and for the update one more.
template <class T>
struct delayed_operands {
    T* const* basis; ///< [count], update: [count + 1]
    const T* w;
    std::int32_t count;
    std::int32_t first; ///< place in frame::array of the first coefficient (update)
    std::int64_t size;
    std::int64_t first_owned;
    std::int64_t last_owned;
    reduction reduce;
    ghost_push<T> push; ///< of basis[count]
    bool sends;         ///< update: push, too
};

template <class T>
struct delayed_arguments : delayed_operands<T> {
    frame common;
};

/// Only the frame, and after it, by one warp: sets the loop's condition if `condition` is not 0,
/// performs the task if the frame lets it.
struct scalar_arguments {
    frame common;
    std::uint64_t condition;
    array_task task;
};

namespace host {

template <class T>
void fused(device& where, const fused_arguments<T>& a);
/// reduce <- basis^T w (and w^T w).
template <class T>
void multi_dot(device& where, const basis_arguments<T>& a);
/// w -= basis * array[first ...] (and reduce <- w^T w).
template <class T>
void multi_axpy(device& where, const basis_arguments<T>& a);
template <class T>
void delayed_dots(device& where, const delayed_arguments<T>& a);
template <class T>
void delayed_update(device& where, const delayed_arguments<T>& a);
/// Sends an operand as it stands.
template <class T>
void push(device& where, const frame& common, const T* operand, std::int64_t size,
          const ghost_push<T>& push);
void scalars(device& where, const scalar_arguments& a);

} // namespace host

namespace cuda {

template <class T>
void fused(device& where, const fused_arguments<T>& a);
template <class T>
void multi_dot(device& where, const basis_arguments<T>& a);
template <class T>
void multi_axpy(device& where, const basis_arguments<T>& a);
template <class T>
void delayed_dots(device& where, const delayed_arguments<T>& a);
template <class T>
void delayed_update(device& where, const delayed_arguments<T>& a);
template <class T>
void push(device& where, const frame& common, const T* operand, std::int64_t size,
          const ghost_push<T>& push);
void scalars(device& where, const scalar_arguments& a);

} // namespace cuda

} // namespace krylith
