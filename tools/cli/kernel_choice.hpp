// The kernel of products with sparse vectors that the command line names.
#pragma once

#include <string>
#include <string_view>

#include <krylith/spmspv/adaptive_product.hpp>

namespace krylith::tool {

inline constexpr std::string_view adaptive_kernel = "adaptive";

/// "adaptive|spmv|...", as help shows the type of --kernel.
[[nodiscard]] std::string kernel_choices();

/// The options of products: always the kernel of this name, or the model chooses. Throws
/// usage_error for a wrong name.
[[nodiscard]] spmspv::adaptive_options kernels_named(const std::string& kernel,
                                                     bool reproducible = false);

} // namespace krylith::tool
