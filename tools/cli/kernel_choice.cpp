#include <krylith/tools/cli/kernel_choice.hpp>

#include <vector>

#include <krylith/spmspv/product/kernel_name.hpp>
#include <krylith/tools/cli/names.hpp>

namespace krylith::tool {

namespace {

std::vector<std::string_view> allowed_kernels() {
    std::vector<std::string_view> names = {adaptive_kernel};
    names.insert(names.end(), spmspv::kernel_names.begin(), spmspv::kernel_names.end());
    return names;
}

} // namespace

std::string kernel_choices() {
    return alternatives(allowed_kernels());
}

spmspv::adaptive_options kernels_named(const std::string& kernel, bool reproducible) {
    spmspv::adaptive_options options{.reproducible = reproducible};
    if (kernel == adaptive_kernel) return options;
    check_name("kernel", kernel, allowed_kernels());
    options.fixed = spmspv::parse_kernel(kernel);
    return options;
}

} // namespace krylith::tool
