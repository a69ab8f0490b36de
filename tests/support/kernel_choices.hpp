// The ways to choose kernels of sparse products, for tests of what uses them.
#pragma once

#include <string>
#include <vector>

#include <krylith/spmspv/adaptive_product.hpp>

namespace krylith::testing {

struct kernel_choice {
    std::string name;
    spmspv::adaptive_options options;
};

/// Returns the choice by the models, and each kernel as the fixed choice.
[[nodiscard]] inline std::vector<kernel_choice> kernel_choices() {
    std::vector<kernel_choice> choices = {{"adaptive", {}}};
    for (const auto name : spmspv::kernel_names)
        choices.push_back({std::string(name), {.fixed = spmspv::parse_kernel(name)}});
    return choices;
}

} // namespace krylith::testing
