// The versions of y = A x from host memory that are measured side by side.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <krylith/spmv/streamed_product.hpp>
#include <krylith/spmv/streaming/streamed_plan.hpp>

namespace krylith::bench {

class streamed_contestant {
public:
    virtual ~streamed_contestant() = default;

    /// y = A x, with all arrays in host memory. Throws like streamed_product.
    virtual streamed_times multiply(const streamed_matrix<double>& a, std::span<const double> x,
                                    std::span<double> y) = 0;
    /// Seconds of the kernels of the last call alone, as streamed_product::kernel_seconds says.
    [[nodiscard]] virtual double kernel_seconds(int repetitions) = 0;
};

/// baseline and p, which are the paper's (paper_product.hpp), and p_opt: the library's.
[[nodiscard]] const std::vector<std::string>& streamed_versions();

/// Throws usage_error for a version that is none.
[[nodiscard]] std::unique_ptr<streamed_contestant> make_contestant(const std::string& version,
                                                                   const device_group& group);

} // namespace krylith::bench
