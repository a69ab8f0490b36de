#include <krylith/tools/info/info_run.hpp>

#include <krylith/device/error.hpp>
#include <krylith/device/kernel/all_reduce_slots.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::tool {

matrix_info inspect(const std::string& name, const csr_matrix<double>& matrix,
                    const std::vector<int>& device_counts) {
    for (const int count : device_counts)
        if (count < 1 || count > max_ranks)
            throw usage_error("--device-counts has " + std::to_string(count) +
                              ": allowed are 1 to " + std::to_string(max_ranks));
    matrix_info info;
    info.name = name;
    stopwatch watch;
    info.statistics = describe(matrix);
    info.kind = classify(info.statistics);
    info.statistics_seconds = watch.lap();
    if (info.statistics.square() && matrix.rows > 0)
        info.footprints = footprints(csr_view<double>(matrix), device_counts);
    info.footprint_seconds = watch.lap();
    return info;
}

} // namespace krylith::tool
