#include <krylith/bench/spmv/spmv_run.hpp>

#include <algorithm>
#include <array>
#include <new>

#include <fmt/format.h>

#include <krylith/bench/common/shared_options.hpp>
#include <krylith/device/error.hpp>
#include <krylith/tools/model/models.hpp>

namespace krylith::bench {

namespace {

/// The rates of this group. They are not kept: `krylith devices` measures those that auto reads.
machine_rates rates_here(const device_group& group) {
    const std::array measured = {krylith::measure(group), krylith::measure(group),
                                 krylith::measure(group)};
    return median(measured);
}

} // namespace

spmv_run::spmv_run(const spmv_request& request)
    : request_((request.check(), request)),
      choice_(choose_devices(request.devices, request.counts)),
      mode_(execution_named(request.execution)),
      report_("spmv", request.report_file),
      csv_(request.csv_file, spmv_csv_columns()),
      operators_(request.operator_list()),
      summary_(request.target) {
    (void)request_.cases(choice_.kind); // refuses a wrong name before anything is measured
    if (!request_.without_limits) {
        rate_ = measure_memory_rate(choice_, request_.limit);
    }
    report_.describe_machine(choice_, rate_);
    report_.describe_effort(request_.effort);
    report_.set_option("spd", request_.spd);
    report_.set_option("precision", request_.multiply.precision);
    report_.set_option("operators", operators_);
    report_.set_option("order", request_.multiply.order);
    report_.set_option("transport", request_.multiply.transport);
    report_.set_option("execution", request_.execution);
    report_.set_option("target", request_.target);
    for (const int count : choice_.counts) {
        if (count > 1 && !request_.without_limits) {
            rates_[count] = rates_here(choice_.group(count));
            report_.describe_rates(count, rates_[count]);
        }
    }
}

bool spmv_run::run() {
    report_.say(fmt::format("spmv, {}{}\n{}\n\n{}", request_.multiply.precision,
                            request_.spd ? ", matrices made spd" : "", in_words(choice_, rate_),
                            spmv_table_head()));
    for (const spmv_case& c : request_.cases(choice_.kind)) {
        std::optional<workload> w = make(c);
        if (!w) {
            continue;
        }
        subject s{c, std::move(*w), {}, {}};
        s.expected = multiply_by_b(s.w);
        run_one_device(s);
        for (const int devices : choice_.counts) {
            for (const std::string& format : formats_on_several(s)) {
                if (devices > 1) {
                    run_devices(s, devices, format);
                }
            }
        }
    }
    const json summary = summary_.as_json();
    report_.summarise(summary);
    report_.say(spmv_summary::in_words(summary));
    return report_.finish();
}

double spmv_run::room_for(const workload& w) {
    return 1.5 * tool::traffic{w.n(), w.nnz(), sizeof(double)}.product();
}

std::optional<workload> spmv_run::make(const spmv_case& c) {
    try {
        const double seconds = clock_.predict(c);
        if (seconds > request_.build_seconds) {
            report_.skip(c.matrix,
                         fmt::format("it would take {:.2f} s to generate, allowed are {:.2f} "
                                     "(--build-seconds)",
                                     seconds, request_.build_seconds));
            return std::nullopt;
        }
        workload w = make_workload(c.matrix, {request_.spd, request_.multiply.single_precision()});
        clock_.took(c, w.seconds);
        return w;
    } catch (const input_error& e) {
        if (std::ranges::find(request_.matrices, c.matrix) == request_.matrices.end()) {
            report_.skip(c.matrix, e.what()); // the host can't hold it
        } else {
            report_.refuse(c.matrix, e.what());
        }
    } catch (const std::bad_alloc&) {
        report_.skip(c.matrix, "the host's memory is too small for it");
    }
    return std::nullopt;
}

void spmv_run::run_one_device(subject& s) {
    const device_group group = choice_.group(1);
    std::vector<json> rows;
    for (const std::string& format : request_.one_device_formats(choice_.kind)) {
        if (!has_room(group, room_for(s.w))) {
            report_.skip(fmt::format("{} {} on 1", s.c.matrix, format), "it doesn't fit");
            continue;
        }
        json row = measure(s, group, "halo", format, nullptr); // nothing moves: all are the same
        const bool again = std::ranges::any_of(
            rows, [&](const json& other) { return other.at("format") == row.at("format"); });
        if (again) { // auto took what was measured
            continue;
        }
        if (!is_void(row)) {
            const double seconds = row["us"]["median"].get<double>() * 1e-6;
            const std::string name = row["format"];
            if (name == "cusparse") {
                s.one.cusparse = seconds;
            } else if (s.one.fastest == 0 || seconds < s.one.fastest) {
                s.one.fastest = seconds;
                s.one.format = name;
            }
        }
        rows.push_back(std::move(row));
    }
    for (json& row : rows) { // the fastest must be known
        if (!is_void(row)) {
            add_comparison(row, s.one, row["setup_seconds"], std::nullopt);
        }
        add(std::move(row));
    }
}

void spmv_run::add(json row) {
    report_.say(spmv_table_lines(row));
    csv_.add(row);
    summary_.add(row);
    report_.add(std::move(row));
}

} // namespace krylith::bench
