// The request of `krylith bench spmspv`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/bench/spmspv/spmspv_measure.hpp>
#include <krylith/bench/spmspv/spmspv_vectors.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/tools/cli/device_selection.hpp>

namespace CLI {
class App;
}

namespace krylith::bench {

/// A matrix to measure. Its place in the whole list decides how densities vary and which vectors
/// are drawn, so that several runs over one list measure what one run would.
struct listed_matrix {
    std::string name;
    std::uint64_t place = 0;

    [[nodiscard]] friend bool operator==(const listed_matrix&, const listed_matrix&) = default;
};

struct spmspv_request {
    std::vector<std::string> matrices;
    bool training = false; ///< the list of spmspv_training.hpp, densities varied by matrix
    std::string scale = "small";
    int every = 1; ///< each Nth matrix of the shuffled list
    int first = 0; ///< the first place, below `every`
    std::string vectors = "all";
    std::vector<double> densities = {1e-5, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 0.6, 1};
    std::vector<std::string> kernels; ///< empty: all
    std::string precision = "fp32";
    std::string semiring = "plus-times";
    tool::device_options devices;
    int device = 0; ///< ordinal of the CUDA device
    spmspv_effort effort;
    std::string report_file;

    /// Throws usage_error naming what is not allowed.
    void check() const;
    /// Returns the one device. Throws what device_group does.
    [[nodiscard]] device_group group() const;
    [[nodiscard]] std::vector<listed_matrix> matrix_list() const;
    [[nodiscard]] std::vector<vector_kind> vector_kinds() const;
    /// Returns the kernels in the order of kernel_names. Throws usage_error for an unknown one.
    [[nodiscard]] std::vector<spmspv::kernel> kernel_list() const;
};

void add_options(CLI::App& app, spmspv_request& q);

} // namespace krylith::bench
