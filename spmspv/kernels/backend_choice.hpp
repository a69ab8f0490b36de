// The choice between functions of krylith::host and krylith::cuda that are declared alike. For
// sources only.
#pragma once

#include <krylith/config.hpp>
#include <krylith/device/device.hpp>

// KRYLITH_ON(where, f<T>(...)) calls cuda::f for a device of CUDA, else host::f.
#if KRYLITH_HAVE_CUDA
#define KRYLITH_ON(device, ...)                                                                    \
    ((device).kind() == krylith::backend::cuda ? cuda::__VA_ARGS__ : host::__VA_ARGS__)
#else
#define KRYLITH_ON(device, ...) (host::__VA_ARGS__)
#endif
