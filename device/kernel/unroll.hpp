// KRYLITH_UNROLL before a loop unrolls it in device code, where arrays that it indexes are then
// registers. Hosts decide for themselves.
#pragma once

#ifdef __CUDA_ARCH__
#define KRYLITH_UNROLL _Pragma("unroll")
#else
#define KRYLITH_UNROLL
#endif
