// The choice between functions of krylith::host and krylith::cuda with the same declaration. Only
// sources include it.
#pragma once

#include <krylith/config.hpp>
#include <krylith/device/device.hpp>

// KRYLITH_ON(device, f<T>(...)) calls cuda::f for a CUDA device, else host::f.
#if KRYLITH_HAVE_CUDA
#define KRYLITH_ON(device, ...)                                                                    \
    ((device).kind() == krylith::backend::cuda ? cuda::__VA_ARGS__ : host::__VA_ARGS__)
#else
#define KRYLITH_ON(device, ...) (host::__VA_ARGS__)
#endif
