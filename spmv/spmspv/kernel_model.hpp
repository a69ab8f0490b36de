// Three decision trees in cascade that choose among eight kernels: computing pattern, workload
// distribution, write-back. (Li, Ao, Yang 2020, section 4.) Trees come from a file that
// scripts/train makes from measurements; the library has some built in for each kind of device.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <krylith/device/device.hpp>
#include <krylith/spmv/spmspv/decision_tree.hpp>
#include <krylith/spmv/spmspv/kernel_name.hpp>

namespace krylith::spmspv {

struct kernel_model {
    std::string name;         ///< for reports: "NVIDIA H200", or the file's name
    std::string architecture; ///< "cuda:sm_90", "host"
    std::string
        origin; ///< how it came about: matrices, measurements, date, or "rules, not trained"
    decision_tree pattern;
    decision_tree row_distribution;    ///< of patterns spmv and row
    decision_tree column_distribution; ///< of pattern column
    decision_tree write_back;          ///< of pattern column
};

/// The kernel for these features. A pure function.
[[nodiscard]] kernel choose_kernel(const kernel_model& model, const feature_source& value);

/// Throws input_error with line and what is wrong. `source` names the text in messages.
[[nodiscard]] kernel_model parse_model(std::string_view text, const std::string& source);
[[nodiscard]] std::string to_text(const kernel_model& model);
[[nodiscard]] kernel_model load_model(const std::filesystem::path& file);

/// What the library was built with for this kind of device.
[[nodiscard]] const kernel_model& built_in_model(backend kind);

/// $KRYLITH_KERNEL_MODEL if it is set (throws input_error if that can't be read), else the file
/// that scripts/train left in the cache folder for this device (tuning_file.hpp says where that
/// is), else built_in_model().
[[nodiscard]] kernel_model model_for(const device& where);

} // namespace krylith::spmspv
