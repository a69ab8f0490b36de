#include <krylith/bench/imbalance/imbalance_run.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/bench/common/shared_options.hpp>
#include <krylith/bench/streamed/streamed_request.hpp>
#include <krylith/device/error.hpp>
#include <krylith/tools/cli/shared_options.hpp>

namespace krylith::bench {

namespace {

constexpr const char* imbalance_line = "{:>5} {:>5} {:>6} {:>12} {:>12} {:>10} {:>10} {:>10}{}\n";

device_choice chosen(const imbalance_request& q) {
    if (q.count < 0) {
        throw usage_error("--devices is " + std::to_string(q.count) +
                          ": allowed are 0 (all) and more");
    }
    std::vector<int> counts;
    if (q.count > 0) {
        counts = {q.count};
    } else if (tool::select_backend(q.devices) == backend::host) {
        counts = {4};
    }
    device_choice choice = choose_devices(q.devices, counts);
    choice.counts = {choice.counts.back()};
    return choice;
}

workload workload_of(csr_matrix<double> matrix, const two_loads& load) {
    workload w;
    w.name = fmt::format("two_loads:{}:{}:{}:{:g}", load.rows, load.blocks, load.light, load.ratio);
    w.matrix = std::move(matrix);
    w.b.resize(static_cast<std::size_t>(w.n()));
    for (std::size_t i = 0; i < w.b.size(); ++i) {
        w.b[i] = 1.0 + static_cast<double>(i % 3);
    }
    return w;
}

} // namespace

void add_options(CLI::App& app, imbalance_request& q) {
    const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
        return app.add_option(name, value, help)->type_name(type);
    };
    add("--rows", q.rows, "K", "Rows of the matrices; 0: 2^21, on the host 2^15")
        ->capture_default_str();
    add("--nonzeros", q.nonzeros, "K", "Nonzeros of the matrices, all alike; 0: 64 a row")
        ->capture_default_str();
    add_list(app, "--ratios", q.ratios,
             "Nonzeros of light rows over those of others [0.1,0.2 ... 0.9]");
    add("--devices", q.count, "N", "Devices, and blocks of rows; 0: all, on the host 4")
        ->capture_default_str()
        ->group("Devices");
    add_backend(app, q.devices);
    add_options(app, q.effort);
    tool::add_report(app, q.report_file);
    add_csv(app, q.csv_file);
}

imbalance_run::imbalance_run(const imbalance_request& request)
    : request_((check_files(request.report_file, request.csv_file, {}), request.effort.check(),
                request)),
      choice_(chosen(request)),
      report_("imbalance", request.report_file),
      csv_(request.csv_file, imbalance_csv_columns()) {
    if (request_.rows == 0) {
        request_.rows = std::int64_t{1} << (choice_.kind == backend::cuda ? 21 : 15);
    }
    if (request_.nonzeros == 0) {
        request_.nonzeros = 64 * request_.rows;
    }
    if (request_.ratios.empty()) {
        for (int tenths = 1; tenths <= 9; ++tenths) {
            request_.ratios.push_back(0.1 * tenths);
        }
    }
    report_.describe_devices(choice_);
    report_.set_option("rows", request_.rows);
    report_.set_option("nonzeros", request_.nonzeros);
    report_.set_option("ratios", request_.ratios);
}

bool imbalance_run::run() {
    const int blocks = choice_.counts.back();
    report_.say(fmt::format("{}\n{} rows, {} nonzeros\n\n{}",
                            fmt::join(descriptions(choice_.group(blocks)), ", "), request_.rows,
                            request_.nonzeros, imbalance_table_head()));
    const auto add = [&](const two_loads& load) {
        json row = measure_load(load);
        report_.say(imbalance_table_lines(row));
        csv_.add(row);
        report_.add(std::move(row));
    };
    add({request_.rows, request_.nonzeros, blocks, 0, 1});
    for (int light = 1; light < blocks; ++light) {
        for (const double ratio : request_.ratios) {
            add({request_.rows, request_.nonzeros, blocks, light, ratio});
        }
    }
    return report_.finish();
}

spread imbalance_run::measure(const workload& w, const std::string& version,
                              const reference_product& expected,
                              std::vector<std::string>& void_because) {
    streamed_arrays arrays(w, "csr");
    const auto product = make_contestant(version, choice_.group(choice_.counts.back()));
    streamed_effort once = request_.effort;
    once.repetitions = 1; // the calls only bring the matrix there
    once.seconds = 0;
    const streamed_numbers numbers = measure_streamed(*product, arrays, false, expected, once);
    void_because.insert(void_because.end(), numbers.void_because.begin(),
                        numbers.void_because.end());
    std::vector<double> samples;
    double spent = 0;
    do {
        samples.push_back(product->kernel_seconds(request_.effort.repetitions));
        spent += samples.back() * request_.effort.repetitions;
    } while (samples.size() < 5 || (spent < request_.effort.seconds && samples.size() < 50));
    return spread_of(std::move(samples));
}

json imbalance_run::measure_load(const two_loads& load) {
    const workload w = workload_of(make_two_loads(load), load);
    const reference_product expected = multiply_by_b(w);
    std::vector<std::string> void_because;
    const spread rows = measure(w, "baseline", expected, void_because);
    const spread nonzeros = measure(w, "p", expected, void_because);
    if (load.light == 0) {
        balanced_ = nonzeros.median;
    }
    return {{"matrix", w.name},
            {"devices", choice_.counts.back()},
            {"n", w.n()},
            {"nnz", w.nnz()},
            {"blocks", load.blocks},
            {"light", load.light},
            {"ratio", load.ratio},
            {"us_equal_rows", to_json(rows, 1e6)},
            {"us_pcsr", to_json(nonzeros, 1e6)},
            {"slowdown_equal_rows", rows.median / balanced_},
            {"slowdown_pcsr", nonzeros.median / balanced_},
            {"slowdown_expected", expected_slowdown(load)},
            {"void_because", void_because}};
}

std::vector<std::string> imbalance_csv_columns() {
    return {"matrix",
            "devices",
            "n",
            "nnz",
            "blocks",
            "light",
            "ratio",
            "us_equal_rows/median",
            "us_equal_rows/p10",
            "us_equal_rows/p90",
            "us_pcsr/median",
            "us_pcsr/p10",
            "us_pcsr/p90",
            "slowdown_equal_rows",
            "slowdown_pcsr",
            "slowdown_expected",
            "void_because"};
}

std::string imbalance_table_head() {
    return fmt::format(fmt::runtime(imbalance_line), "light", "of", "ratio", "rows us", "pcsr us",
                       "rows x", "pcsr x", "expected", "");
}

std::string imbalance_table_lines(const json& row) {
    const auto number = [&](const char* key, const char* form) {
        return fmt::format(fmt::runtime(form), row.at(key).get<double>());
    };
    const auto median = [&](const char* key) {
        return fmt::format("{:.2f}", row.at(key).at("median").get<double>());
    };
    std::string lines = fmt::format(
        fmt::runtime(imbalance_line), row.at("light").get<int>(), row.at("blocks").get<int>(),
        number("ratio", "{:.2f}"), median("us_equal_rows"), median("us_pcsr"),
        number("slowdown_equal_rows", "{:.2f}"), number("slowdown_pcsr", "{:.2f}"),
        number("slowdown_expected", "{:.2f}"), row.at("void_because").empty() ? "" : "  VOID");
    for (const json& why : row.at("void_because")) {
        lines += fmt::format("    void: {}\n", why.get<std::string>());
    }
    return lines;
}

} // namespace krylith::bench
