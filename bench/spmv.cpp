// bench_spmv: y = A x, with and without dot(x, y), by each local kernel on 1..n devices.
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/bench/report.hpp>
#include <krylith/bench/spmv_measure.hpp>
#include <krylith/device/error.hpp>

namespace krylith::bench {
namespace {

struct request {
    std::vector<std::string> matrices;
    std::string backend = "auto";
    std::vector<int> devices = {1};
    int threads = 0;
    std::string kind = "halo";
    std::vector<std::string> locals;
    std::string mode = "auto";
    double limit = 0;
    slope_effort effort;
    std::string json_file;
};

void read_arguments(CLI::App& app, request& q) {
    app.add_option("MATRIX", q.matrices,
                   "gallery:NAME[:ARGUMENT...] or Matrix Market files; without: 7-point Poisson "
                   "256^3 and 400^3, 256^3 with random values, 27-point 256^3, random 4M x 17");
    app.add_option("--backend", q.backend, "auto, cuda or host")->capture_default_str();
    app.add_option("--devices", q.devices, "Device counts")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->capture_default_str();
    app.add_option("--threads", q.threads, "Threads of all host devices; 0: one a core");
    app.add_option("--operator", q.kind, "auto, nz or halo")->capture_default_str();
    app.add_option("--local", q.locals, "Of csr, sell, vendor; without: all that the devices have")
        ->delimiter(',')
        ->allow_extra_args(false);
    app.add_option("--mode", q.mode, "auto (recorded where possible), recorded or eager")
        ->check(CLI::IsMember({"auto", "recorded", "eager"}))
        ->capture_default_str();
    app.add_option("--few", q.effort.few, "Products of the short run")->capture_default_str();
    app.add_option("--many", q.effort.many, "And of the long one")->capture_default_str();
    app.add_option("--repetitions", q.effort.repetitions, "At least")->capture_default_str();
    app.add_option("--seconds", q.effort.seconds, "And until it has run this long")
        ->capture_default_str();
    app.add_option("--limit", q.limit,
                   "Memory's limit, TB/s a device; without: by the data sheet, or measured");
    app.add_option("--json", q.json_file, "Everything as JSON");
}

class bench_spmv {
public:
    explicit bench_spmv(const request& q)
        : request_(q),
          choice_(choose_devices(q.backend, q.devices, q.threads)),
          report_("bench_spmv", q.json_file) {
        q.effort.check();
        rate_ = measure_memory_rate(choice_, q.limit);
        report_.describe_machine(choice_, rate_);
        report_.describe_effort(q.effort);
        report_.set_option("operator", q.kind);
        report_.set_option("mode", q.mode);
        const bool cuda = choice_.kind == backend::cuda;
        if (request_.locals.empty()) {
            request_.locals.emplace_back("csr");
            if (cuda) {
                request_.locals.insert(request_.locals.end(), {"sell", "vendor"});
            }
        }
        if (request_.matrices.empty()) {
            request_.matrices = {"gallery:poisson3d:128", "gallery:poisson3d_27point:96"};
            if (cuda) {
                request_.matrices = {"gallery:poisson3d:256", "gallery:poisson3d:400",
                                     "gallery:poisson3d:256:random=1",
                                     "gallery:poisson3d_27point:256",
                                     "gallery:random_spd:4000000:17"};
            }
        }
    }

    int run() {
        fmt::print("{}\n\n", in_words(choice_, rate_));
        fmt::print("{:<32} {:<6} {:>2} {:>10} {:>10} {:>10} {:>8} {:>7} {:>12} {:>8}\n", "matrix",
                   "local", "p", "us", "p10", "p90", "GB/s", "limit", "us with dot", "error");
        for (const std::string& name : request_.matrices) {
            std::optional<workload> w;
            try {
                w = make_workload(name);
            } catch (const input_error& e) { // the host can't hold it
                report_.skip(name, e.what());
                continue;
            }
            run_matrix(*w);
        }
        if (report_.any_void()) {
            fmt::print("\nRows marked VOID failed a check: their times mean nothing.\n");
        }
        return report_.any_void() ? 1 : 0;
    }

private:
    void run_matrix(const workload& w) {
        const reference_product expected = multiply_by_b(w);
        for (const int count : choice_.counts) {
            for (const std::string& local : request_.locals) {
                const std::string what = fmt::format("{} {} on {}", w.name, local, count);
                if (!has_room(choice_.group(count), 1.5 * product_bytes(w))) {
                    report_.skip(what, "it doesn't fit");
                    continue;
                }
                try {
                    run_kernel(w, expected, count, local);
                } catch (const error& e) {
                    fmt::print("{}: {}  VOID\n", what, e.what());
                    report_.add({{"matrix", w.name},
                                 {"devices", count},
                                 {"local", local},
                                 {"void_because", json::array({e.what()})}});
                }
            }
        }
    }

    void run_kernel(const workload& w, const reference_product& expected, int count,
                    const std::string& local) {
        const auto a = make_operator(choice_.group(count), w.matrix,
                                     {parse_operator_kind(request_.kind), parse_local_kind(local)});
        const auto mode = request_.mode == "recorded" ? execution_mode::recorded
                          : request_.mode == "eager"  ? execution_mode::eager
                          : a->recordable()           ? execution_mode::automatic
                                                      : execution_mode::eager;
        const spmv_numbers numbers = measure_spmv(*a, w, expected, mode, request_.effort);
        const double bytes = product_bytes(w);
        const double rate = bytes / numbers.product.median;
        std::int64_t matrix_bytes = 0;
        for (int rank = 0; rank < count; ++rank) {
            matrix_bytes += a->matrix_bytes(rank);
        }
        report_.add({{"matrix", w.name},
                     {"n", w.n()},
                     {"nnz", w.nnz()},
                     {"backend", to_string(choice_.kind)},
                     {"devices", count},
                     {"operator", to_string(a->kind())},
                     {"local", a->local_name()},
                     {"us", to_json(numbers.product, 1e6)},
                     {"us_with_dot", to_json(numbers.product_dot, 1e6)},
                     {"model_bytes", bytes},
                     {"matrix_bytes", matrix_bytes},
                     {"gb_per_s", rate * 1e-9},
                     {"gb_per_s_with_dot", bytes / numbers.product_dot.median * 1e-9},
                     {"ratio_to_limit", rate / rate_.limit_of(count)},
                     {"ratio_to_copy", rate / rate_.copy_of(count)},
                     {"largest_error", numbers.largest_error},
                     {"void_because", numbers.void_because}});
        fmt::print("{:<32} {:<6} {:>2} {:>10.2f} {:>10.2f} {:>10.2f} {:>8.1f} {:>6.1f}% {:>12.2f} "
                   "{:>8.1e}{}\n",
                   w.name, a->local_name(), count, numbers.product.median * 1e6,
                   numbers.product.p10 * 1e6, numbers.product.p90 * 1e6, rate * 1e-9,
                   100 * rate / rate_.limit_of(count), numbers.product_dot.median * 1e6,
                   numbers.largest_error, numbers.void_because.empty() ? "" : "  VOID");
        for (const std::string& why : numbers.void_because) {
            fmt::print("    void: {}\n", why);
        }
        std::fflush(stdout);
    }

    request request_;
    device_choice choice_;
    memory_rate rate_;
    report report_;
};

int main(int argc, char** argv) {
    CLI::App app("y = A x on devices: microseconds, and GB/s of the bytes that it must move "
                 "(12 nnz + 20 n). Exits with 1 where a check failed.");
    request q;
    read_arguments(app, q);
    try {
        app.parse(argc, argv);
        return bench_spmv(q).run();
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    } catch (const std::exception& e) {
        fmt::print(stderr, "bench_spmv: {}\n", e.what());
        return 2;
    }
}

} // namespace
} // namespace krylith::bench

int main(int argc, char** argv) {
    return krylith::bench::main(argc, argv);
}
