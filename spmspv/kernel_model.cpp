#include <krylith/spmspv/kernel_model.hpp>

#include <algorithm>
#include <cstdlib>

#include <krylith/config.hpp>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/files/own_folder.hpp>
#include <krylith/matrix/files/tuning_file.hpp>
#include <krylith/spmspv/selection/built_in_models.hpp>

namespace krylith::spmspv {

namespace {

constexpr const char* override_variable = "KRYLITH_KERNEL_MODEL";

bool fits(const kernel_model& model, const device& device) {
    return device.kind() == backend::host ? model.architecture == "host"
                                          : model.architecture.starts_with("cuda:");
}

} // namespace

kernel choose_kernel(const kernel_model& model, const feature_source& value) {
    const auto p = static_cast<direction>(model.direction(value));
    if (p != direction::push) {
        const auto d = static_cast<distribution>(model.row_distribution(value));
        return kernel_of(p, d, write_back::atomic);
    }
    const auto d = static_cast<distribution>(model.column_distribution(value));
    return kernel_of(p, d, static_cast<write_back>(model.write_back(value)));
}

const kernel_model& built_in_model(backend kind) {
    if (kind == backend::host) {
        static const kernel_model model = parse_model(host_model_text, "models/host.txt");
        return model;
    }
    static const kernel_model model = parse_model(sm_90_model_text, "models/sm_90.txt");
    return model;
}

std::string architecture_of([[maybe_unused]] const device& device) {
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda)
        return "cuda:sm_" + std::to_string(cuda::compute_capability(device));
#endif
    return "host";
}

std::filesystem::path model_file(const device& device) {
    const std::filesystem::path folder = tuning_folder();
    if (folder.empty()) return {};
    std::string name = architecture_of(device);
    std::ranges::replace(name, ':', '-');
    return folder / ("kernels-" + name + ".txt");
}

kernel_model used_on(kernel_model model, const std::string& architecture) {
    if (model.architecture != architecture)
        model.name += ", trained for " + model.architecture + ", not " + architecture;
    return model;
}

namespace {

/// model_for() without regard to the architecture among those of a kind.
kernel_model model_that_fits(const device& device) {
    if (const char* given = std::getenv(override_variable); // NOLINT(concurrency-mt-unsafe)
        given != nullptr && *given != '\0') {
        kernel_model model = load_model(given);
        if (!fits(model, device))
            throw input_error(std::string(override_variable) + ": '" + given +
                              "' is for architecture '" + model.architecture + "', and " +
                              device.description() + " needs one for " +
                              (device.kind() == backend::host ? "host" : "cuda:sm_..."));
        return model;
    }
    const std::filesystem::path kept = model_file(device);
    if (kept.empty()) return built_in_model(device.kind());
    own_folder folder(kept.parent_path());
    const auto text = folder.read(kept.filename().string());
    if (!text && folder.problem().empty()) return built_in_model(device.kind());
    std::string why = kept.string() + " is for another kind of device";
    try {
        if (!text) throw input_error(folder.problem());
        kernel_model model = parse_model(*text, kept.string());
        if (fits(model, device)) return model;
    } catch (const input_error& e) {
        why = e.what();
    }
    kernel_model model = built_in_model(device.kind());
    model.origin += "; built in, since " + why;
    return model;
}

} // namespace

kernel_model model_for(const device& device) {
    return used_on(model_that_fits(device), architecture_of(device));
}

} // namespace krylith::spmspv
