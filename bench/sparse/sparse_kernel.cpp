// The table of kernels: a kernel's name, a line of help, and its function for each precision.
#include <krylith/bench/sparse/sparse_kernel.hpp>

#include <algorithm>
#include <array>

#include <krylith/bench/sparse/formats_lines.hpp>
#include <krylith/bench/sparse/lengths_lines.hpp>
#include <krylith/bench/sparse/spgemm_lines.hpp>
#include <krylith/bench/sparse/transpose_lines.hpp>
#include <krylith/bench/sparse/triangular_lines.hpp>
#include <krylith/device/error.hpp>

namespace krylith::bench {

namespace {

constexpr std::array all = {
    sparse_kernel{"transpose", "CSR to CSC, and new values on a pattern that is known",
                  transpose_lines<double>, transpose_lines<float>},
    sparse_kernel{"spgemm", "C = A B: A A, and A P, R (A P) of multigrid, and new values",
                  spgemm_lines<double>, spgemm_lines<float>},
    sparse_kernel{"triangular", "solves with the lower and the upper triangle",
                  triangular_lines<double>, triangular_lines<float>},
    sparse_kernel{"formats", "y = A x by each format, and what auto takes and loses",
                  formats_lines<double>, formats_lines<float>},
    sparse_kernel{"lengths", "the same columns in rows of Zipf's lengths, beside equal rows",
                  lengths_lines<double>, lengths_lines<float>},
};

} // namespace

std::span<const sparse_kernel> sparse_kernels() {
    return all;
}

std::vector<sparse_kernel> sparse_kernels_named(const std::vector<std::string>& names) {
    if (names.empty()) return {all.begin(), all.end()};
    std::vector<sparse_kernel> found;
    for (const std::string& name : names) {
        const auto* const row = std::ranges::find(all, name, &sparse_kernel::name);
        if (row == all.end()) {
            std::string message = "unknown kernel '" + name + "'; allowed are";
            for (const sparse_kernel& kernel : all) (message += ' ') += kernel.name;
            throw usage_error(message);
        }
        found.push_back(*row);
    }
    return found;
}

} // namespace krylith::bench
