#include <krylith/bench/read/read_run.hpp>

#include <cmath>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <krylith/bench/common/shared_options.hpp>
#include <krylith/bench/read/read_files.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/tools/cli/printable.hpp>
#include <krylith/tools/cli/shared_options.hpp>

namespace krylith::bench {
namespace {

/// The bytes of a matrix as CSR, fp64.
double csr_bytes(const read_sample& s) {
    return 8.0 * static_cast<double>(s.rows + 1) + 12.0 * static_cast<double>(s.nnz);
}

/// The reason why the two can't have read the same; empty where they have.
std::string difference(const read_sample& a, const read_sample& b) {
    if (a.rows != b.rows || a.nnz != b.nnz) {
        return fmt::format("{} rows and {} nonzeros, others read {} and {}", b.rows, b.nnz, a.rows,
                           a.nnz);
    }
    const double tolerance = 1e-9 * (std::abs(a.sum) + static_cast<double>(a.nnz));
    return std::abs(a.sum - b.sum) <= tolerance
               ? ""
               : fmt::format("the values add up to {}, those of others to {}", b.sum, a.sum);
}

} // namespace

void add_options(CLI::App& app, read_request& q) {
    add_matrices(app, q.matrices,
                 "7-point Poisson 100^3 with random values (250 MB) and 160^3 (350 MB, short "
                 "lines). Files are read as they are, matrices of the gallery written sorted, "
                 "shuffled and as a lower half");
    app.add_option("--folder", q.folder, "For the files written, removed after use")
        ->type_name("FOLDER")
        ->capture_default_str();
    app.add_option("--python", q.python, "The Python that has SciPy and fast_matrix_market")
        ->type_name("FILE")
        ->capture_default_str();
    app.add_option("--repetitions", q.repetitions,
                   "Reads of each file by each reader, which alternate")
        ->type_name("N")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--once", q.once, "Read this file once and print one line of JSON")
        ->type_name("FILE");
    tool::add_report(app, q.report_file);
}

read_run::read_run(const read_request& request)
    : request_((check_files(request.report_file, "", request.matrices), request)),
      report_("read", request.report_file) {
    if (!request_.once.empty()) {
        return;
    }
    std::vector<std::string> missing;
    contestants_ = read_contestants(request_.python, missing);
    for (const std::string& why : missing) {
        report_.skip(why.substr(0, why.find(':')), why);
    }
    if (request_.matrices.empty()) {
        request_.matrices = {"gallery:poisson3d:100:random=1", "gallery:poisson3d:160"};
    }
    report_.set_option("repetitions", request_.repetitions);
    report_.set_option("threads", omp_get_max_threads());
}

bool read_run::run() {
    if (!request_.once.empty()) {
        read_and_report(request_.once);
        return true;
    }
    report_.say(fmt::format("{} threads, median of {} reads each, a process a read, alternating\n\n"
                            "{:<32} {:<10} {:<19} {:>7} {:>7} {:>7} {:>9} {:>7}\n",
                            omp_get_max_threads(), request_.repetitions, "matrix", "order",
                            "reader", "MB/s", "p10", "p90", "MB/cpu-s", "memory"));
    for (const std::string& name : request_.matrices) {
        if (name.starts_with("gallery:")) {
            run_gallery(name);
            continue;
        }
        std::error_code unreadable;
        const auto bytes = std::filesystem::file_size(name, unreadable);
        if (unreadable) {
            report_.refuse(name, name + ": " + unreadable.message());
        } else {
            measure(name, "as it is", name, static_cast<std::int64_t>(bytes));
        }
    }
    report_.say("\nMB/s of text, from the file's name to CSR. memory: resident at the peak, over "
                "the bytes of the CSR arrays.\n");
    return report_.finish();
}

void read_run::run_gallery(const std::string& name) {
    for (const auto order : {entry_order::sorted, entry_order::shuffled, entry_order::symmetric}) {
        const auto path = std::filesystem::path(request_.folder) /
                          fmt::format("krylith_bench_read_{}.mtx", getpid());
        const std::int64_t bytes = write_for_reading(path, load_matrix<double>(name), order);
        try {
            measure(name, std::string(name_of(order)), path, bytes);
        } catch (...) {
            std::filesystem::remove(path);
            throw;
        }
        std::filesystem::remove(path);
    }
}

void read_run::measure(const std::string& matrix, const std::string& order,
                       const std::filesystem::path& file, std::int64_t bytes) {
    std::vector<std::vector<read_sample>> samples(contestants_.size());
    for (int repetition = -1; repetition < request_.repetitions; ++repetition) {
        for (std::size_t k = 0; k < contestants_.size(); ++k) {
            const read_sample sample = read_once(contestants_[k], file);
            if (repetition >= 0) { // the first only brings the file into the page cache
                samples[k].push_back(sample);
            }
        }
    }
    for (std::size_t k = 0; k < contestants_.size(); ++k) {
        report_row(matrix, order, contestants_[k].name, bytes, samples[k], samples[0].front());
    }
}

void read_run::report_row(const std::string& matrix, const std::string& order,
                          const std::string& reader, std::int64_t bytes,
                          const std::vector<read_sample>& samples, const read_sample& expected) {
    const auto spread_by = [&](const auto& figure) {
        std::vector<double> figures;
        for (const read_sample& sample : samples) {
            figures.push_back(figure(sample));
        }
        return spread_of(figures);
    };
    const auto megabytes = static_cast<double>(bytes) * 1e-6;
    const spread rate = spread_by([&](const auto& s) { return megabytes / s.seconds; });
    const spread to_coo = spread_by([](const auto& s) { return s.seconds_to_coo; });
    const spread cpu = spread_by([&](const auto& s) { return megabytes / s.cpu_seconds; });
    const spread memory =
        spread_by([](const auto& s) { return static_cast<double>(s.peak_bytes) / csr_bytes(s); });
    const std::string why = difference(expected, samples.front());
    report_.add({{"matrix", matrix},
                 {"order", order},
                 {"reader", reader},
                 {"version", samples.front().version},
                 {"bytes", bytes},
                 {"rows", samples.front().rows},
                 {"nnz", samples.front().nnz},
                 {"mb_per_s", to_json(rate, 1)},
                 {"seconds_to_coo", to_json(to_coo, 1)},
                 {"mb_per_cpu_s", to_json(cpu, 1)},
                 {"memory_over_csr", to_json(memory, 1)},
                 {"void_because", why.empty() ? json::array() : json::array({why})}});
    report_.say(fmt::format("{:<32} {:<10} {:<19} {:>7.0f} {:>7.0f} {:>7.0f} {:>9.0f} {:>7.2f}{}\n",
                            tool::one_line(matrix), order, reader, rate.median, rate.p10, rate.p90,
                            cpu.median, memory.median, why.empty() ? "" : "  VOID: " + why));
}

} // namespace krylith::bench
