// The whole of `krylith bench sparse`: each kernel of the table on each matrix, on one device.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <krylith/bench/common/csv_file.hpp>
#include <krylith/bench/common/device_choice.hpp>
#include <krylith/bench/common/report.hpp>
#include <krylith/bench/sparse/formats_summary.hpp>
#include <krylith/bench/sparse/sparse_kernel.hpp>
#include <krylith/bench/sparse/sparse_request.hpp>
#include <krylith/bench/sparse/sparse_row.hpp>

namespace krylith::bench {

class sparse_run {
public:
    /// Throws usage_error for a request that can't be carried out.
    explicit sparse_run(const sparse_request& request);

    /// Prints as it goes. Returns whether no row is void.
    [[nodiscard]] bool run();

private:
    template <class T>
    void measure(const spmv_case& c);
    template <class T>
    void measure(const sparse_subject& subject, const sparse_kernel& kernel,
                 const csr_matrix<T>& matrix);
    /// Adds rows, of several numbers of threads the fewest first: others get what they gain.
    void add(json row);

    sparse_request request_;
    device_choice choice_;
    std::vector<int> thread_counts_;                  ///< 0 alone where none were asked for
    std::map<std::string, double> of_fewest_threads_; ///< ms by kernel and variant, of one matrix
    std::vector<sparse_kernel> kernels_;
    report report_;
    csv_file csv_;
    formats_summary formats_;
};

} // namespace krylith::bench
