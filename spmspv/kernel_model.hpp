// Three decision trees in cascade that choose among eight kernels: computing pattern, workload
// distribution, write-back. (Li, Ao, Yang 2020, section 5.) Trees come from a file that
// scripts/train makes from measurements; the library has some built in for each kind of device.
//
// The file is text, one line for each of these; empty lines and lines that begin with # are
// skipped:
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
// Labels are spmv, row, column; direct, balanced; atomic, sort. Several nodes may lead to the same
// node. The trees of a trained model begin with knows_work, which leads to a tree that asks for
// effective nonzeros or to one that guesses; where counting them costs next to nothing beside the
// product, the second leads on to the first. matrix_features.hpp has the features.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <krylith/device/device.hpp>
#include <krylith/spmspv/product/kernel_name.hpp>
#include <krylith/spmspv/selection/decision_tree.hpp>

namespace krylith::spmspv {

struct kernel_model {
    std::string name;         ///< for reports: "NVIDIA H200", or the file's name
    std::string architecture; ///< "cuda:sm_90", "host"
    std::string origin;       ///< where it is from: matrices, measurements, date, or "rules, not
                              ///< trained"
    decision_tree direction;
    decision_tree row_distribution;    ///< for directions dense and pull
    decision_tree column_distribution; ///< for direction push
    decision_tree write_back;          ///< for direction push
};

/// Returns the kernel for these features. A pure function.
[[nodiscard]] kernel choose_kernel(const kernel_model& model, const feature_source& value);

/// Reads a model. Throws input_error with the line and what is wrong. `source` names the text in
/// messages.
[[nodiscard]] kernel_model parse_model(std::string_view text, const std::string& source);
/// Returns a text that parse_model() reads back as the same model, thresholds to the bit; ends of
/// lines within name and origin become spaces.
[[nodiscard]] std::string to_text(const kernel_model& model);
/// Reads the model in a file. Throws input_error naming the file where it can't be read, is no
/// regular file of at most 16 MiB, or is no model.
[[nodiscard]] kernel_model load_model(const std::filesystem::path& file);

/// Returns the model that the library was built with for this kind of device.
[[nodiscard]] const kernel_model& built_in_model(backend kind);

/// The architecture of a device, as "host" or "cuda:sm_90".
[[nodiscard]] std::string architecture_of(const device& device);

/// The file where scripts/train leaves a model for such a device: "kernels-cuda-sm_90.txt" in
/// tuning_folder() (tuning_file.hpp); empty if the environment names no folder. It need not exist.
[[nodiscard]] std::filesystem::path model_file(const device& device);

/// Returns the model, which says in its name where it was trained for another architecture than
/// this one, that it is used on.
[[nodiscard]] kernel_model used_on(kernel_model model, const std::string& architecture);

/// Returns the model in the file $KRYLITH_KERNEL_MODEL if that is set, else that in model_file() if
/// it exists, else built_in_model(), and says in its name if it was trained for another
/// architecture (any model for CUDA is used on any GPU). Throws input_error where the file that the
/// variable names can't be read or is for another kind of device. A file in the cache folder that
/// is broken, or that other users could have written (own_folder.hpp), is not used: the origin of
/// the built-in model then says why.
[[nodiscard]] kernel_model model_for(const device& device);

} // namespace krylith::spmspv
