// Sizes of blocks in slabs, and the variable that says whether there are slabs.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace krylith::testing {

constexpr std::size_t mebi = std::size_t{1} << 20;

class slabs_variable {
public:
    explicit slabs_variable(const char* value) {
        setenv("KRYLITH_SLABS", value, 1); // NOLINT(concurrency-mt-unsafe)
    }
    slabs_variable(const slabs_variable&) = delete;
    slabs_variable& operator=(const slabs_variable&) = delete;
    ~slabs_variable() { unsetenv("KRYLITH_SLABS"); } // NOLINT(concurrency-mt-unsafe)
};

} // namespace krylith::testing
