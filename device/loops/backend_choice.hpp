// Functions of namespaces host and cuda with the same declaration, and the choice between them.
#pragma once

#include <krylith/config.hpp>
#include <krylith/device/device.hpp>

// Declares the same functions in both.
#define KRYLITH_HOST_AND_CUDA(...)                                                                 \
    namespace host {                                                                               \
    __VA_ARGS__                                                                                    \
    }                                                                                              \
    namespace cuda {                                                                               \
    __VA_ARGS__                                                                                    \
    }

// KRYLITH_ON(device, f<T>(...)) calls cuda::f for a CUDA device, else host::f.
#if KRYLITH_HAVE_CUDA
#define KRYLITH_ON(device, ...)                                                                    \
    ((device).kind() == krylith::backend::cuda ? cuda::__VA_ARGS__ : host::__VA_ARGS__)
#else
#define KRYLITH_ON(device, ...) (host::__VA_ARGS__)
#endif
