// The part of spmv_run that measures one product, and the operators on several devices.
#include <krylith/bench/spmv/spmv_run.hpp>

#include <fmt/format.h>

#include <krylith/bench/common/stopwatch.hpp>
#include <krylith/bench/spmv/partition_cost.hpp>
#include <krylith/device/error.hpp>

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
    if (!has_room(group,
                  1.5 * product_bytes(s.w) + 16.0 * devices * static_cast<double>(s.w.n()))) {
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
    slope_effort effort = request_.effort;
    effort.seconds /= devices;
    effort.warm_up /= devices;
    try {
        return measure_blocks(choice_, s.w, devices, parse_format_kind(format), request_.mode,
                              effort);
    } catch (const error& e) {
        report_.skip(fmt::format("limit of {} {} on {}", s.c.matrix, format, devices), e.what());
        return std::nullopt;
    }
}

json spmv_run::measure(const subject& s, const device_group& group, const std::string& asked,
                       const std::string& format, const lone_blocks* blocks) {
    const int devices = group.size();
    try {
        group.synchronize();
        const stopwatch watch;
        const operator_options options =
            request_.options_of(parse_operator_kind(asked), parse_format_kind(format));
        const auto a = make_operator(group, s.w.matrix, options);
        group.synchronize();
        const double setup = watch.seconds();
        const spmv_numbers numbers =
            measure_spmv(*a, s.w, s.expected, mode_named(request_.mode, *a), request_.effort,
                         !request_.without_dot);
        json row = spmv_row(s.c, s.w, numbers, *a, rate_);
        row["asked"] = asked;
        row["transport"] = to_string(a->transport());
        row["setup_seconds"] = setup;
        if (devices > 1) {
            add_comparison(row, s.one, setup,
                           partition_seconds(a->kind(), s.w.matrix, group, options));
        }
        if (blocks != nullptr) {
            const machine_rates& rates = rates_.at(devices);
            const bool stores = a->transport() == transport_kind::peer_store;
            add_limit(row, limit_of(*a, *blocks, stores ? rates.stores : rates.engines));
        }
        return row;
    } catch (const error& e) {
        return failed_product(s.c, devices, asked, format, e.what());
    }
}

} // namespace krylith::bench
