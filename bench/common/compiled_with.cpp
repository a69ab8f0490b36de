#include <krylith/bench/common/compiled_with.hpp>

#include <krylith/config.hpp>

namespace krylith::bench {

build_facts compiled_with() {
#if defined(__clang__)
    const std::string compiler = "clang ";
#else
    const std::string compiler = "gcc ";
#endif
    return {KRYLITH_VERSION, compiler + __VERSION__, KRYLITH_BENCH_FLAGS, KRYLITH_BENCH_CUDA};
}

} // namespace krylith::bench
