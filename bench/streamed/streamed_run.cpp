#include <krylith/bench/streamed/streamed_run.hpp>

#include <new>

#include <fmt/format.h>

#include <krylith/bench/common/shared_options.hpp>
#include <krylith/device/error.hpp>

namespace krylith::bench {

streamed_run::streamed_run(const streamed_request& request)
    : request_((check_files(request.report_file, request.csv_file, request.matrices), request)),
      choice_(choose_devices(request.devices, request.counts)),
      formats_(request.format_list()),
      report_("streamed", request.report_file),
      csv_(request.csv_file, streamed_csv_columns()) {
    request_.check_versions();
    request_.effort.check();
    report_.describe_devices(choice_);
    report_.set_option("formats", formats_);
    report_.set_option("versions", request_.versions);
    report_.set_option("pageable", request_.pageable);
    report_.set_option("repetitions", request_.effort.repetitions);
}

bool streamed_run::run() {
    report_.say(fmt::format("{}\n\n{}",
                            fmt::join(descriptions(choice_.group(choice_.counts.back())), ", "),
                            streamed_table_head()));
    for (const std::string& name : request_.matrix_list(choice_.kind)) {
        try {
            const workload w = make_workload(name);
            if (w.matrix.rows != w.matrix.columns) {
                report_.refuse(name, "it is not square");
                continue;
            }
            const reference_product expected = multiply_by_b(w);
            for (const std::string& format : formats_) {
                run_format(w, expected, format);
            }
        } catch (const input_error& e) {
            if (request_.matrices.empty()) { // the host can't hold it
                report_.skip(name, e.what());
            } else {
                report_.refuse(name, e.what());
            }
        } catch (const std::bad_alloc&) {
            report_.skip(name, "the host's memory is too small for it");
        }
    }
    return report_.finish();
}

void streamed_run::run_format(const workload& w, const reference_product& expected,
                              const std::string& format) {
    streamed_arrays arrays(w, format);
    if (!request_.pageable) {
        arrays.pin(choice_.group(choice_.counts.back()));
    }
    std::vector<json> rows;
    for (const std::string& version : request_.versions) {
        const bool pinned = !request_.pageable && version != "baseline";
        for (const int devices : choice_.counts) {
            const streamed_case c{w.name, w.n(), w.nnz(), format, version, devices, pinned};
            rows.push_back(measure(arrays, c, expected));
        }
    }
    add_speedups(rows);
    for (json& row : rows) {
        report_.say(streamed_table_lines(row));
        csv_.add(row);
        report_.add(std::move(row));
    }
}

json streamed_run::measure(streamed_arrays& arrays, const streamed_case& c,
                           const reference_product& expected) {
    try {
        const auto product = make_contestant(c.version, choice_.group(c.devices));
        return streamed_row(
            c, measure_streamed(*product, arrays, c.pinned, expected, request_.effort));
    } catch (const device_error& e) {
        return failed_msrep(c, e.what());
    } catch (const input_error& e) {
        return failed_msrep(c, e.what());
    }
}

} // namespace krylith::bench
