// bench_cg: conjugate gradients, time an iteration and time to solution, on 1..n devices and
// against what is usual on the machine (cuSPARSE + cuBLAS, Eigen).
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/bench/cg/cg_eigen.hpp>
#include <krylith/bench/cg/cg_request.hpp>
#include <krylith/bench/cg/cg_row.hpp>
#include <krylith/config.hpp>
#if KRYLITH_HAVE_CUDA
#include <krylith/bench/cg/cg_cublas.hpp>
#endif

namespace krylith::bench {
namespace {

std::unique_ptr<cg_contestant> make_baseline(const workload& w, const device_choice& choice) {
#if KRYLITH_HAVE_CUDA
    if (choice.kind == backend::cuda) {
        return make_cublas_cg(w, 0);
    }
#endif
    return make_eigen_cg(w, choice.threads);
}

class bench_cg {
public:
    explicit bench_cg(const cg_request& request)
        : request_(request),
          settings_(request.settings()),
          choice_(choose_devices(request.backend_name, request.devices, request.threads)),
          report_("bench_cg", request.json_file) {
        request_.plan.effort.check();
        rate_ = measure_memory_rate(choice_, request_.limit);
        report_.describe_machine(choice_, rate_);
        report_.describe_effort(request_.plan.effort);
        report_.set_option("operator", request_.kind);
        report_.set_option("format", request_.format);
        report_.set_option("form", request_.form);
        report_.set_option("mode", request_.mode);
        report_.set_option("unroll", request_.unroll);
        report_.set_option("rtol", request_.plan.rtol);
    }

    int run() {
        fmt::print("{}\n\n{}", in_words(choice_, rate_), cg_table_head());
        for (const std::string& name : request_.matrix_names(choice_.kind)) {
            std::optional<workload> w;
            try {
                w = make_workload(name);
            } catch (const input_error& e) {
                if (request_.matrices.empty()) { // the host can't hold it
                    report_.skip(name, e.what());
                } else {
                    report_.refuse(name, e.what());
                }
                continue;
            }
            run_matrix(*w);
        }
        if (report_.any_void()) {
            fmt::print("\nRows marked VOID failed a check: their times mean nothing.\n");
        }
        return report_.failed() ? 1 : 0;
    }

private:
    void run_matrix(const workload& w) {
        std::optional<cg_numbers> first;
        for (const int count : choice_.counts) {
            // Formats and their padding, vectors, and what the baseline has of both.
            const double bytes =
                1.25 * (12.0 * static_cast<double>(w.nnz()) + 80.0 * static_cast<double>(w.n()));
            if (!has_room(choice_.group(count), first ? bytes : 2 * bytes)) {
                report_.skip(fmt::format("{} on {}", w.name, count), "it doesn't fit");
                continue;
            }
            try {
                run_group(w, count, first);
            } catch (const error& e) {
                add(failed_row(w.name, count, e.what()));
            }
            if (request_.solvers == "baseline") {
                return;
            }
        }
    }

    /// The baseline takes turns with the first group.
    void run_group(const workload& w, int count, std::optional<cg_numbers>& first) {
        std::unique_ptr<krylith_cg> ours;
        std::unique_ptr<cg_contestant> baseline;
        std::vector<cg_contestant*> contestants;
        if (request_.solvers != "baseline") {
            ours = std::make_unique<krylith_cg>(choice_.group(count), w, settings_);
            contestants.push_back(ours.get());
        }
        if (!first && request_.solvers != "krylith") {
            baseline = make_baseline(w, choice_);
            contestants.push_back(baseline.get());
        }
        std::vector<cg_numbers> numbers = measure_cg(w, contestants, request_.plan);
        if (ours) {
            add_ours(w, *ours, count, numbers.front(), first);
        }
        if (baseline) {
            json row = cg_row(w, numbers.back(), choice_.kind, 1, rate_);
            if (ours) {
                row["krylith_faster_by"] =
                    numbers.back().iteration.median / numbers.front().iteration.median;
            }
            add(std::move(row));
        }
        if (!first) {
            first = std::move(numbers.front());
        }
    }

    void add_ours(const workload& w, const krylith_cg& ours, int count, cg_numbers& numbers,
                  const std::optional<cg_numbers>& first) {
        if (first && request_.plan.solves > 0) {
            compare_device_counts(*first, numbers);
        }
        json row = cg_row(w, numbers, choice_.kind, count, rate_);
        add_operator(row, ours);
        if (first) {
            row["speedup"] = first->iteration.median / numbers.iteration.median;
            row["speedup_over_devices"] = choice_.counts.front();
        }
        if (request_.passes && count == 1) {
            add_passes(row, measure_passes(ours.a(), settings_.mode, request_.plan.effort));
        }
        add(std::move(row));
    }

    void add(json row) {
        fmt::print("{}", cg_table_lines(row));
        std::fflush(stdout);
        report_.add(std::move(row));
    }

    cg_request request_;
    cg_settings settings_;
    device_choice choice_;
    memory_rate rate_;
    report report_;
};

int main(int argc, char** argv) {
    CLI::App app(
        "Conjugate gradients: time an iteration (difference of a long and a short run) and "
        "time to a true residual, checked. Exits with 1 where a check failed or a named matrix is "
        "unreadable.");
    cg_request request;
    add_options(app, request);
    try {
        app.parse(argc, argv);
        return bench_cg(request).run();
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    } catch (const std::exception& e) {
        fmt::print(stderr, "bench_cg: {}\n", e.what());
        return 2;
    }
}

} // namespace
} // namespace krylith::bench

int main(int argc, char** argv) {
    return krylith::bench::main(argc, argv);
}
