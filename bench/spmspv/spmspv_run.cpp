#include <krylith/bench/spmspv/spmspv_run.hpp>

#include <algorithm>
#include <cmath>
#include <new>

#include <fmt/format.h>

#include <krylith/bench/common/device_choice.hpp>
#include <krylith/bench/spmspv/spmspv_row.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/spmspv/kernel_model.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

namespace {

json header_of(const spmspv_request& request, const device_group& group) {
    json kernels = json::array();
    for (const spmspv::kernel k : request.kernel_list()) {
        kernels.push_back(to_string(k));
    }
    return {{"architecture", spmspv::architecture_of(group[0])},
            {"device", group[0].description()},
            {"model_file", spmspv::model_file(group[0]).string()},
            {"kernels", kernels},
            {"precision", request.precision},
            {"semiring", request.semiring},
            {"scale", request.training ? request.scale : ""},
            {"repetitions", request.effort.repetitions},
            {"seconds", request.effort.seconds},
            {"batch", request.effort.batch},
            {"quantile", request.effort.quantile},
            {"clock", request.effort.processor_time ? "processor" : "wall"}};
}

/// Other densities for each matrix, for training: thresholds lie between measured ones.
std::vector<double> varied(std::vector<double> densities, std::uint64_t place) {
    for (std::size_t k = 0; k < densities.size(); ++k) {
        const double chance = unit_interval(counter_hash(31, place, k));
        if (densities[k] < 1) {
            densities[k] = std::min(1.0, densities[k] * std::pow(4.0, chance - 0.5));
        }
    }
    return densities;
}

} // namespace

spmspv_run::spmspv_run(const spmspv_request& request)
    : request_((request.check(), request)),
      group_(request.group()),
      report_("spmspv", request.report_file, header_of(request, group_)) {}

bool spmspv_run::run() {
    report_.say(fmt::format("{}; {}, {}\n\n", descriptions(group_).front(), request_.precision,
                            request_.semiring));
    if (!request_.training) {
        report_.say(spmspv_table_head());
    }
    const std::vector<listed_matrix> matrices = request_.matrix_list();
    for (std::size_t k = 0; k < matrices.size(); ++k) {
        try {
            if (request_.training) {
                report_.say(fmt::format("{:>3} of {}  ", k + 1, matrices.size()));
            }
            run_matrix(matrices[k]);
        } catch (const input_error& e) {
            if (request_.matrices.empty()) { // the host can't hold it
                report_.skip(matrices[k].name, e.what());
            } else {
                report_.refuse(matrices[k].name, e.what());
            }
        } catch (const device_error& e) {
            report_.skip(matrices[k].name, e.what());
        } catch (const std::bad_alloc&) {
            report_.skip(matrices[k].name, "the host's memory is too small for it");
        }
    }
    return report_.finish();
}

void spmspv_run::run_matrix(const listed_matrix& listed) {
    const auto& [name, place] = listed;
    const tool::stopwatch watch;
    const auto matrix = load_matrix<float>(name);
    const std::vector<double> densities =
        request_.training ? varied(request_.densities, place) : request_.densities;
    const std::vector<test_vector> vectors =
        make_vectors(csr_view<float>(matrix), request_.vector_kinds(), densities, 17 + place);
    const auto subject = make_subject(group_.handle(0), csr_view<float>(matrix), request_.semiring,
                                      request_.precision);
    const std::vector<spmspv::kernel> kernels = request_.kernel_list();
    report_.add(matrix_row(name, subject->features()));
    std::vector<std::string> problems;
    for (const test_vector& x : vectors) {
        const json row = product_row(name, x, subject->measure(x, request_.effort, kernels));
        if (!request_.training) {
            report_.say(spmspv_table_lines(row, kernels));
        } else if (!row["void_because"].empty()) {
            problems.push_back(row["void_because"][0].get<std::string>());
        }
        report_.add(row);
    }
    if (request_.training) {
        report_.say(fmt::format("{:<36} {:>9} nonzeros, {} vectors, {:.2f} s\n", name, matrix.nnz(),
                                vectors.size(), watch.seconds()));
    }
    for (const std::string& problem : problems) {
        report_.say(fmt::format("    VOID: {}\n", problem));
    }
}

} // namespace krylith::bench
