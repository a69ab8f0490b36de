// What every public header includes before anything of its own: an older C++ ends here, in two
// errors and not in thousands.
#pragma once

#if __cplusplus < 202002L
#error "krylith needs C++20: compile with -std=c++20"
#include "C++20 is needed" // there is no such file, which stops compilers, as an #error does not
#endif
