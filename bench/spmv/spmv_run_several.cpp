// The member functions of spmv_run that measure one product, and the operators on several devices.
#include <krylith/bench/spmv/spmv_run.hpp>

#include <fmt/format.h>

#include <krylith/bench/spmv/partition_cost.hpp>
#include <krylith/device/error.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

std::vector<std::string> spmv_run::formats_on_several(const subject& s) const {
    if (!request_.formats.empty()) {
        return request_.formats;
    }
    return {s.one.format.empty() ? std::string("auto") : s.one.format};
}

void spmv_run::run_devices(const subject& s, int devices, const std::string& format) {
    const device_group group = choice_.group(devices);
    // Replicated vectors are whole on each device.
    if (!has_room(group, room_for(s.w) + 16.0 * devices * static_cast<double>(s.w.n()))) {
        report_.skip(fmt::format("{} on {}", s.c.matrix, devices), "it doesn't fit");
        return;
    }
    const std::optional<lone_blocks> blocks = measure_limit(s, devices, format);
    for (const std::string& asked : operators_) {
        add(measure(s, group, asked, format, blocks ? &*blocks : nullptr));
    }
}

std::optional<lone_blocks> spmv_run::measure_limit(const subject& s, int devices,
                                                   const std::string& format) {
    if (request_.without_limits) {
        return std::nullopt;
    }
    slope_effort effort = request_.effort;
    effort.seconds /= devices;
    effort.warm_up_seconds /= devices;
    const format_kind kind = parse_format_kind(format);
    try {
        return request_.multiply.single_precision()
                   ? measure_blocks<float>(choice_, s.w, devices, kind, mode_, effort)
                   : measure_blocks<double>(choice_, s.w, devices, kind, mode_, effort);
    } catch (const error& e) {
        report_.skip(fmt::format("limit of {} {} on {}", s.c.matrix, format, devices), e.what());
        return std::nullopt;
    }
}

json spmv_run::measure(const subject& s, const device_group& group, const std::string& asked,
                       const std::string& format, const lone_blocks* blocks) {
    try {
        return request_.multiply.single_precision()
                   ? measured_row<float>(s, group, asked, format, blocks)
                   : measured_row<double>(s, group, asked, format, blocks);
    } catch (const error& e) {
        return failed_product(s.c, group.size(), asked, format, e.what());
    }
}

template <class T>
json spmv_run::measured_row(const subject& s, const device_group& group, const std::string& asked,
                            const std::string& format, const lone_blocks* blocks) {
    const csr_matrix<T>& matrix = s.w.matrix_of<T>();
    const int devices = group.size();
    group.synchronize();
    const tool::stopwatch watch;
    const operator_options options = request_.options_of(asked, format);
    const auto a = make_operator(group, matrix, options);
    group.synchronize();
    const double setup = watch.seconds();
    execution_options repeated = repeated_as(*a, mode_, request_.effort);
    repeated.timeout_seconds = request_.devices.timeout_seconds();
    const spmv_numbers numbers =
        measure_spmv<T>(*a, s.w, s.expected, repeated, request_.effort, !request_.without_dot);
    json row = spmv_row<T>(s.c, s.w, numbers, *a, rate_);
    row["asked"] = asked;
    row["transport"] = to_string(a->transport());
    row["setup_seconds"] = setup;
    if (devices > 1) {
        add_comparison(row, s.one, setup, partition_seconds(a->kind(), matrix, group, options));
    }
    if (blocks != nullptr) {
        const machine_rates& rates = rates_.at(devices);
        const bool stores = a->transport()->exchange == nullptr;
        add_limit(row, limit_of<T>(*a, *blocks, stores ? rates.stores : rates.engines));
    }
    return row;
}

} // namespace krylith::bench
