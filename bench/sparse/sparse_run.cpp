#include <krylith/bench/sparse/sparse_run.hpp>

#include <algorithm>
#include <new>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>

#include <krylith/bench/common/measurement_failed.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/host_threads.hpp>
#include <krylith/matrix/load.hpp>

namespace krylith::bench {

namespace {

/// Those that the machine has cores for, ascending; 0 alone where there are none.
std::vector<int> counts_with_cores(std::vector<int> counts, backend kind) {
    if (counts.empty()) return {0};
    if (kind != backend::host)
        throw usage_error("--thread-counts is for host devices: add --backend host");
    std::ranges::sort(counts);
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    if (counts.front() > usable_cores())
        throw usage_error(fmt::format("--thread-counts are {}: this process can use {} cores",
                                      fmt::join(counts, ", "), usable_cores()));
    counts.erase(std::upper_bound(counts.begin(), counts.end(), usable_cores()), counts.end());
    return counts;
}

} // namespace

sparse_run::sparse_run(const sparse_request& request)
    : request_((request.check(), request)),
      choice_(choose_devices(request.devices, {1})),
      thread_counts_(counts_with_cores(request.thread_counts, choice_.kind)),
      kernels_(sparse_kernels_named(request.kernels)),
      report_("sparse", request.report_file),
      csv_(request.csv_file, sparse_csv_columns()) {
    (void)request_.cases(choice_.kind); // refuses a wrong name before anything is measured
    report_.describe_devices(choice_);
    report_.set_option("precision", request_.precision);
    report_.set_option("repeats", request_.repeats);
    if (!request_.thread_counts.empty()) report_.set_option("thread_counts", thread_counts_);
}

bool sparse_run::run() {
    report_.say(fmt::format("{}\n{}, median of {}\n\n{}",
                            fmt::join(descriptions(choice_.group(1)), ", "), request_.precision,
                            request_.repeats, sparse_table_head()));
    for (const int count : request_.thread_counts)
        if (count > usable_cores())
            report_.skip(fmt::format("{} threads", count),
                         fmt::format("this process can use {} cores", usable_cores()));
    for (const spmv_case& c : request_.cases(choice_.kind)) {
        try {
            if (request_.precision == "fp32")
                measure<float>(c);
            else
                measure<double>(c);
        } catch (const input_error& e) {
            if (request_.matrices.empty()) { // the host can't hold it
                report_.skip(c.matrix, e.what());
            } else {
                report_.refuse(c.matrix, e.what());
            }
        } catch (const std::bad_alloc&) {
            report_.skip(c.matrix, "the host's memory is too small for it");
        }
    }
    if (const formats_summary& formats = formats_; formats.matrices() > 0) {
        report_.say("\n" + formats.text());
        report_.summarise(formats.to_json());
    }
    return report_.finish();
}

template <class T>
void sparse_run::measure(const spmv_case& c) {
    const csr_matrix<T> matrix = load_matrix<T>(c.matrix);
    sparse_subject subject{c, matrix.rows, matrix.columns, matrix.nnz(),
                           facts_of(matrix.row_offsets, matrix.column_indices, matrix.columns)};
    of_fewest_threads_.clear();
    const int usual = omp_get_max_threads(); // of what runs on no device
    for (const sparse_kernel& kernel : kernels_)
        for (const int threads : thread_counts_) {
            if (threads > 0) {
                subject.threads = choice_.options.threads = threads;
                omp_set_num_threads(threads);
            }
            measure(subject, kernel, matrix);
        }
    omp_set_num_threads(usual);
}

template <class T>
void sparse_run::measure(const sparse_subject& subject, const sparse_kernel& kernel,
                         const csr_matrix<T>& matrix) {
    const device_group group = choice_.group(1); // what one kernel keeps is not there for the next
    const sparse_case<T> c{group.handle(0), matrix, request_.repeats, !request_.without_peers,
                           &group};
    try {
        std::vector<sparse_line> lines;
        if constexpr (std::is_same_v<T, float>)
            lines = kernel.measure_single(c);
        else
            lines = kernel.measure(c);
        for (const sparse_line& line : lines) add(sparse_row(subject, line));
    } catch (const measurement_failed& e) {
        add(failed_sparse_row(subject, kernel.name, e.what()));
    } catch (const error& e) { // not a matrix for this kernel, or too large for the device
        report_.skip(fmt::format("{} of {}", kernel.name, subject.c.matrix), e.what());
    }
}

void sparse_run::add(json row) {
    if (row.contains("threads") && row.contains("ms")) {
        const auto ms = row.at("ms").at("median").get<double>();
        const std::string what =
            row.at("kernel").get<std::string>() + ", " + row.at("variant").get<std::string>();
        row["scaling"] = of_fewest_threads_.try_emplace(what, ms).first->second / ms;
    }
    report_.say(sparse_table_lines(row));
    csv_.add(row);
    if (row.value("threads", 0) == thread_counts_.back()) formats_.take(row);
    report_.add(std::move(row));
}

} // namespace krylith::bench
