// bench_read: Matrix Market files to CSR, against SciPy and fast_matrix_market.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <krylith/bench/common/measurement_failed.hpp>
#include <krylith/bench/common/report.hpp>
#include <krylith/bench/read/read_contestant.hpp>
#include <krylith/bench/read/read_files.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/load.hpp>

namespace krylith::bench {
namespace {

struct request {
    std::vector<std::string> matrices;
    std::string folder = std::filesystem::temp_directory_path().string();
    std::string python = "python3";
    int repetitions = 7;
    std::string once;
    std::string json_file;
};

void read_arguments(CLI::App& app, request& q) {
    app.add_option("MATRIX", q.matrices,
                   "Matrix Market files, read as they are, or gallery:NAME[:ARGUMENT...], written "
                   "sorted, shuffled and as a lower half; without: 7-point Poisson 100^3 with "
                   "random values (250 MB) and 160^3 (350 MB, short lines)");
    app.add_option("--folder", q.folder, "For the files written, removed after use")
        ->capture_default_str();
    app.add_option("--python", q.python, "The Python that has SciPy and fast_matrix_market")
        ->capture_default_str();
    app.add_option("--repetitions", q.repetitions, "Reads of each file by each reader, by turns")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--json", q.json_file, "Everything as JSON");
    app.add_option("--once", q.once, "Read this file once and print one line of JSON");
}

/// What a matrix takes as CSR, fp64.
double csr_bytes(const read_sample& s) {
    return 8.0 * static_cast<double>(s.rows + 1) + 12.0 * static_cast<double>(s.nnz);
}

/// Why the two can't have read the same; empty where they have.
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

class bench_read {
public:
    explicit bench_read(request q)
        : request_(std::move(q)), report_("bench_read", request_.json_file) {
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

    int run() {
        fmt::print("{} threads, median of {} reads each, a process a read, by turns\n\n",
                   omp_get_max_threads(), request_.repetitions);
        fmt::print("{:<32} {:<10} {:<19} {:>7} {:>7} {:>7} {:>9} {:>7}\n", "matrix", "order",
                   "reader", "MB/s", "p10", "p90", "MB/cpu-s", "memory");
        for (const std::string& name : request_.matrices) {
            if (name.starts_with("gallery:")) {
                run_gallery(name);
            } else {
                measure(name, "as it is", name,
                        static_cast<std::int64_t>(std::filesystem::file_size(name)));
            }
        }
        fmt::print(
            "\nMB/s of text, from the file's name to CSR. memory: resident at the peak, over "
            "the bytes of the CSR arrays.\n");
        return report_.any_void() ? 1 : 0;
    }

private:
    void run_gallery(const std::string& name) {
        for (const auto order :
             {entry_order::sorted, entry_order::shuffled, entry_order::symmetric}) {
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

    void measure(const std::string& matrix, const std::string& order,
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

    void report_row(const std::string& matrix, const std::string& order, const std::string& reader,
                    std::int64_t bytes, const std::vector<read_sample>& samples,
                    const read_sample& expected) {
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
        const spread memory = spread_by(
            [](const auto& s) { return static_cast<double>(s.peak_bytes) / csr_bytes(s); });
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
        fmt::print("{:<32} {:<10} {:<19} {:>7.0f} {:>7.0f} {:>7.0f} {:>9.0f} {:>7.2f}{}\n", matrix,
                   order, reader, rate.median, rate.p10, rate.p90, cpu.median, memory.median,
                   why.empty() ? "" : "  VOID: " + why);
        std::fflush(stdout);
    }

    request request_;
    report report_;
    std::vector<read_contestant> contestants_;
};

int main(int argc, char** argv) {
    CLI::App app("Reads Matrix Market files to CSR: MB/s and memory, beside SciPy's mmread and "
                 "fast_matrix_market where Python has them. Exits with 1 where readers disagree.");
    request q;
    read_arguments(app, q);
    try {
        app.parse(argc, argv);
        return q.once.empty() ? bench_read(q).run() : read_and_report(q.once);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    } catch (const std::exception& e) {
        fmt::print(stderr, "bench_read: {}\n", e.what());
        return 2;
    }
}

} // namespace
} // namespace krylith::bench

int main(int argc, char** argv) {
    return krylith::bench::main(argc, argv);
}
