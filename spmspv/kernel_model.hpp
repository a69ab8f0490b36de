// Three decision trees in cascade that choose among eight kernels: computing pattern, workload
// distribution, write-back. (Li, Ao, Yang 2020, section 4.) Trees come from a file that
// scripts/train makes from measurements; the library has some built in for each kind of device.
//
// The file is text, a line for each of these; lines that are empty or begin with # are passed over:
//
//     krylith kernel model 1
//     architecture host
//     name AMD EPYC, 2 threads
//     origin 312 matrices of the gallery, fp32, 2026-11-22
//     tree pattern                              and row_distribution, column_distribution,
//     node effective_ratio 0.0625 1 2           write_back: nodes by place, from 0; a node has
//     leaf column                               FEATURE THRESHOLD BELOW ABOVE: BELOW is the next
//     leaf spmv                                 where the value <= THRESHOLD
//
// Labels: spmv, row, column; direct, balanced; atomic, sort. A node may be behind several: trees
// of a trained model begin with knows_work, which leads to one that asks for effective nonzeros or
// to one that guesses, and where counting them costs next to nothing of the product, from that one
// to the other. matrix_features.hpp has the features.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <krylith/device/device.hpp>
#include <krylith/spmspv/selection/decision_tree.hpp>
#include <krylith/spmspv/selection/kernel_name.hpp>

namespace krylith::spmspv {

struct kernel_model {
    std::string name;         ///< for reports: "NVIDIA H200", or the file's name
    std::string architecture; ///< "cuda:sm_90", "host"
    std::string origin;       ///< how it came about: matrices, measurements, date, or "rules, not
                              ///< trained"
    decision_tree direction;
    decision_tree row_distribution;    ///< of patterns spmv and row
    decision_tree column_distribution; ///< of pattern column
    decision_tree write_back;          ///< of pattern column
};

/// The kernel for these features. A pure function.
[[nodiscard]] kernel choose_kernel(const kernel_model& model, const feature_source& value);

/// Throws input_error with line and what is wrong. `source` names the text in messages.
[[nodiscard]] kernel_model parse_model(std::string_view text, const std::string& source);
/// What parse_model() reads back as the same model, thresholds to the bit; ends of lines within
/// name and origin become spaces.
[[nodiscard]] std::string to_text(const kernel_model& model);
/// Throws input_error naming the file where it can't be read, is no regular file of at most 16 MiB,
/// or is no model.
[[nodiscard]] kernel_model load_model(const std::filesystem::path& file);

/// What the library was built with for this kind of device.
[[nodiscard]] const kernel_model& built_in_model(backend kind);

/// "host", "cuda:sm_90".
[[nodiscard]] std::string architecture_of(const device& device);

/// Where scripts/train leaves a model for such a device: "kernels-cuda-sm_90.txt" in
/// tuning_folder() (tuning_file.hpp); empty if the environment names no folder. It need not be
/// there.
[[nodiscard]] std::filesystem::path model_file(const device& device);

/// $KRYLITH_KERNEL_MODEL if it is set, else model_file() if it is there, else built_in_model().
/// Throws input_error where the file that the variable names can't be read or is for another kind
/// of device. A file in the cache folder that is broken, or that others could have
/// written (own_folder.hpp), does no harm: the built-in model's origin
/// then says why it stands in.
[[nodiscard]] kernel_model model_for(const device& device);

} // namespace krylith::spmspv
