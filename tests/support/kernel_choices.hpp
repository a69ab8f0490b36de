// The ways in which kernels of sparse products are chosen, for tests of what uses them.
#pragma once

#include <string>
#include <vector>

#include <krylith/spmspv/adaptive_product.hpp>

namespace krylith::testing {

struct kernel_choice {
    std::string name;
    spmspv::adaptive_options options;
};

/// By the models, and each kernel always.
[[nodiscard]] inline std::vector<kernel_choice> kernel_choices() {
    std::vector<kernel_choice> choices = {{"adaptive", {}}};
    for (const auto name : spmspv::kernel_names)
        choices.push_back({std::string(name), {.fixed = spmspv::parse_kernel(name)}});
    return choices;
}

} // namespace krylith::testing
