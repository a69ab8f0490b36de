// A kernel model that always chooses the same kernel, in force while it lives.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <unistd.h>

#include <krylith/spmspv/kernel_model.hpp>

namespace krylith::testing {

class forced_kernel {
public:
    forced_kernel(const device& device, spmspv::kernel k)
        : path_(std::filesystem::temp_directory_path() /
                ("krylith-kernel-test-" + std::to_string(getpid()) + ".txt")) {
        using spmspv::distribution;
        using spmspv::write_back;
        const char* const patterns[] = {"spmv", "row", "column"};
        const char* const distribution_name =
            distribution_of(k) == distribution::balanced ? "balanced" : "direct";
        std::ofstream(path_) << "krylith kernel model 1\narchitecture "
                             << spmspv::architecture_of(device) << "\nname forced\n"
                             << "origin a test\ntree pattern\nleaf "
                             << patterns[static_cast<int>(direction_of(k))]
                             << "\ntree row_distribution\nleaf " << distribution_name
                             << "\ntree column_distribution\nleaf " << distribution_name
                             << "\ntree write_back\nleaf "
                             << (write_back_of(k) == write_back::sort ? "sort" : "atomic") << '\n';
        setenv("KRYLITH_KERNEL_MODEL", path_.c_str(), 1); // NOLINT(concurrency-mt-unsafe)
    }
    ~forced_kernel() {
        unsetenv("KRYLITH_KERNEL_MODEL"); // NOLINT(concurrency-mt-unsafe)
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    forced_kernel(const forced_kernel&) = delete;
    forced_kernel& operator=(const forced_kernel&) = delete;

private:
    std::filesystem::path path_;
};

} // namespace krylith::testing
