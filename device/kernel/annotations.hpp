// KRYLITH_HD marks functions that host and device code share.
#pragma once

#include <krylith/device/language/cxx20.hpp>

#ifdef __CUDACC__
#define KRYLITH_HD __host__ __device__
#else
#define KRYLITH_HD
#endif
