#include <krylith/bench/spmspv/spmspv_request.hpp>

#include <algorithm>
#include <array>
#include <numeric>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/bench/common/device_choice.hpp>
#include <krylith/bench/common/shared_options.hpp>
#include <krylith/bench/spmspv/spmspv_training.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/tools/cli/shared_options.hpp>

namespace krylith::bench {

void spmspv_request::check() const {
    if (training && !matrices.empty()) {
        throw usage_error("--training has matrices of its own: leave the others out");
    }
    if (every < 1) {
        throw usage_error(fmt::format("--every is {}, must be at least 1", every));
    }
    if (first < 0 || first >= every) {
        throw usage_error(fmt::format("--first is {}, must be 0 to {} (below --every, which is {})",
                                      first, every - 1, every));
    }
    if (!training && every != 1) { // and so --first is 0
        throw usage_error(
            fmt::format("--every {} and --first {} are for the list of --training: leave them out",
                        every, first));
    }
    if (densities.empty()) {
        throw usage_error("--densities is empty, must name at least one");
    }
    for (const double density : densities) {
        if (!(density >= 0 && density <= 1)) {
            throw usage_error(fmt::format("--densities has {}, must be 0 to 1", density));
        }
    }
    (void)vector_kinds();
    (void)kernel_list();
    (void)training_matrices(scale);
    effort.check();
    check_files(report_file, "", matrices, {".jsonl", ".json"});
}

device_group spmspv_request::group() const {
    const device_choice choice = choose_devices(devices, {1});
    if (effort.processor_time && (choice.kind != backend::host || devices.threads != 1)) {
        throw usage_error("--processor-time is for a host device of one thread: --backend host "
                          "--threads 1");
    }
    return choice.kind == backend::host ? choice.group(1) : device_group::cuda(std::array{device});
}

std::vector<listed_matrix> spmspv_request::matrix_list() const {
    std::vector<std::string> all = matrices;
    if (training) {
        all = training_matrices(scale);
    } else if (all.empty()) {
        all = {"gallery:rmat:14", "gallery:poisson2d:256", "gallery:random:60000:17"};
    }
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (training) { // sizes alternate: each Nth of them could be the large ones
        std::ranges::sort(order, {}, [](std::size_t k) { return counter_hash(23, k); });
    }
    std::vector<listed_matrix> result;
    for (auto k = static_cast<std::size_t>(first); k < order.size();
         k += static_cast<std::size_t>(every)) {
        result.push_back({std::move(all[order[k]]), order[k]});
    }
    return result;
}

std::vector<vector_kind> spmspv_request::vector_kinds() const {
    if (vectors == "all") {
        return {vector_kind::random, vector_kind::frontier};
    }
    if (vectors == "random") {
        return {vector_kind::random};
    }
    if (vectors == "frontier") {
        return {vector_kind::frontier};
    }
    throw usage_error("unknown kind of vectors '" + vectors +
                      "'; allowed are random, frontier, all");
}

std::vector<spmspv::kernel> spmspv_request::kernel_list() const {
    std::array<bool, spmspv::kernel_count> asked{};
    asked.fill(kernels.empty());
    for (const std::string& name : kernels) {
        asked[static_cast<std::size_t>(spmspv::parse_kernel(name))] = true;
    }
    std::vector<spmspv::kernel> result;
    for (std::size_t k = 0; k < asked.size(); ++k) {
        if (asked[k]) {
            result.push_back(static_cast<spmspv::kernel>(k));
        }
    }
    return result;
}

void add_options(CLI::App& app, spmspv_request& q) {
    const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
        return app.add_option(name, value, help)->type_name(type)->capture_default_str();
    };
    add_matrices(app, q.matrices,
                 "unless there is --training, rmat 2^14, 5-point 256^2, random 60000 x 17");
    app.add_flag("--training", q.training,
                 "More than 300 matrices of all families of the gallery, densities varied between "
                 "them, and a line a matrix");
    add("--scale", q.scale, "small|medium|large",
        "Size of the matrices of --training: small (5 thousand to 500 thousand nonzeros), medium "
        "(100 thousand to 12 "
        "million), large (500 thousand to 60 million)");
    add("--every", q.every, "N", "Each Nth matrix of --training only, of a shuffled list");
    add("--first", q.first, "K",
        "Begin with the Kth of the list of --training (0 to N - 1), so that N runs with --every N "
        "measure what one run would");
    add("--vectors", q.vectors, "random|frontier|all",
        "Frontier: the nearest to a vertex by breadth-first search");
    add_list(app, "--densities", q.densities,
             "Fractions of the columns where x has entries; 0: one entry")
        ->capture_default_str();
    add_list(app, "--kernels", q.kernels,
             "Only these, for times in place of older ones: the trainer puts them into a run of "
             "all kernels on the same matrices and vectors [all]");
    add("--precision", q.precision, "fp32|fp64", "Precision of matrix and vectors");
    add("--semiring", q.semiring, "plus-times|plus-second|or-and|min-plus|min-column",
        "What stands for addition and multiplication");
    add("--repetitions", q.effort.repetitions, "N", "Repetitions of each product, at least");
    add("--seconds", q.effort.seconds, "SECONDS",
        "Repeat a product until it has run this long; 10 times as often at most");
    add("--batch", q.effort.batch, "SECONDS",
        "Time of the products between waits for the device, about");
    add("--quantile", q.effort.quantile, "Q",
        "Quantile of the repetitions to report; 0, the least, where others use the machine");
    app.add_flag(
        "--processor-time", q.effort.processor_time,
        "Measure the processor time of a host device of one thread (--threads 1), where others use "
        "the machine");
    add("--device", q.device, "N", "Which CUDA device")->group("Devices");
    add_backend(app, q.devices);
    tool::add_report(app, q.report_file);
}

} // namespace krylith::bench
