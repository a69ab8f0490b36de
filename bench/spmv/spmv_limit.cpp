#include <krylith/bench/spmv/spmv_limit.hpp>

#include <algorithm>
#include <memory>
#include <thread>

#include <krylith/bench/spmv/spmv_measure.hpp>
#include <krylith/distributed/source/matrix_source.hpp>
#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/sparse/selection/make_device_matrix.hpp>
#include <krylith/spmv/halo/halo_operator.hpp>

namespace krylith::bench {

namespace {

device_group one_of(const device_choice& choice, int devices) {
    if (choice.kind == backend::cuda) {
        return choice.group(1);
    }
    const int threads = choice.options.threads > 0
                            ? choice.options.threads
                            : static_cast<int>(std::thread::hardware_concurrency());
    return device_group::host(1, {.host_threads = std::max(1, threads / devices)});
}

/// Makes these rows an operator on one device, on vectors of all n entries: y's first entries are
/// the rows' results, and the rest of y stays 0.
template <class T>
std::unique_ptr<matrix_operator<T>> make_lone(const device_group& one,
                                              const matrix_source<T>& source, row_range rows,
                                              format_kind format) {
    const auto handle = std::make_shared<const layout>(
        layout{one, equal_rows(source.matrix.columns, 1), coherence::owned});
    return std::make_unique<halo_operator<T>>(
        operator_layouts{handle, handle}, index_map(handle->rows),
        [&](const layout& l, int rank, const held_entries&) {
            return make_device_matrix(l.comm.handle(rank), source.block(rank, rows), format);
        });
}

double real(std::int64_t count) {
    return static_cast<double>(count);
}

double fraction_that_waits(const csr_matrix<double>& matrix, row_range rows) {
    const auto offset = [&](std::int64_t row) {
        return matrix.row_offsets[static_cast<std::size_t>(row)];
    };
    std::int64_t waiting = 0;
#pragma omp parallel for schedule(static) reduction(+ : waiting)
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const auto first = matrix.column_indices.begin() + offset(row);
        const auto last = matrix.column_indices.begin() + offset(row + 1);
        if (std::any_of(first, last, [&](std::int32_t c) { return !rows.contains(c); })) {
            waiting += offset(row + 1) - offset(row);
        }
    }
    return real(waiting) / real(std::max<std::int64_t>(1, offset(rows.end) - offset(rows.begin)));
}

} // namespace

template <class T>
lone_blocks measure_blocks(const device_choice& choice, const workload& w, int devices,
                           format_kind format, execution_mode mode, const slope_effort& effort) {
    const device_group one = one_of(choice, devices);
    const matrix_source<T> source{w.matrix_of<T>(), find_longest_row(w.matrix.row_offsets)};
    const row_partition rows = partition_rows(source.matrix, devices);
    lone_blocks result;
    for (int rank = 0; rank < devices; ++rank) {
        result.seconds.push_back(0);
        result.matrix_bytes.push_back(0);
        result.waiting.push_back(fraction_that_waits(w.matrix, rows.owned(rank)));
        if (rows.owned(rank).size() == 0) {
            continue;
        }
        const auto a = make_lone(one, source, rows.owned(rank), format);
        result.matrix_bytes.back() = real(a->matrix_bytes(0));
        result.seconds.back() =
            std::max(0.0, time_products<T>(*a, w, repeated_as<T>(*a, mode, effort), effort).median);
    }
    return result;
}

double spmv_limit::seconds() const {
    return std::max(compute - waiting, transfer) + waiting;
}

std::optional<double> spmv_limit::hidden(double product_seconds) const {
    const double shorter = std::min(compute - waiting, transfer);
    if (!(shorter > 0)) {
        return std::nullopt;
    }
    return std::clamp(1 - (product_seconds - seconds()) / shorter, 0.0, 1.0);
}

template <class T>
spmv_limit limit_of(const matrix_operator<T>& a, const lone_blocks& blocks, double link) {
    // A device without a block of its own computes at the rate of all.
    double all_seconds = 0;
    double all_bytes = 0;
    for (std::size_t rank = 0; rank < blocks.seconds.size(); ++rank) {
        all_seconds += blocks.seconds[rank];
        all_bytes += blocks.matrix_bytes[rank];
    }
    const bool sends_x = a.kind()->sends == sent_data::x;
    spmv_limit limit;
    for (std::size_t rank = 0; rank < blocks.seconds.size(); ++rank) {
        const bool own = blocks.matrix_bytes[rank] > 0;
        const double seconds = own ? blocks.seconds[rank] : all_seconds;
        const double bytes = own ? blocks.matrix_bytes[rank] : all_bytes;
        const auto r = static_cast<int>(rank);
        if (bytes > 0) {
            const double compute = real(a.matrix_bytes(r)) * seconds / bytes;
            limit.compute = std::max(limit.compute, compute);
            if (sends_x) {
                limit.waiting = std::max(limit.waiting, blocks.waiting[rank] * compute);
            }
        }
        limit.transfer = std::max(limit.transfer, sizeof(T) * real(a.received(r)) / link);
    }
    return limit;
}

template lone_blocks measure_blocks<double>(const device_choice&, const workload&, int, format_kind,
                                            execution_mode, const slope_effort&);
template lone_blocks measure_blocks<float>(const device_choice&, const workload&, int, format_kind,
                                           execution_mode, const slope_effort&);
template spmv_limit limit_of(const matrix_operator<double>&, const lone_blocks&, double);
template spmv_limit limit_of(const matrix_operator<float>&, const lone_blocks&, double);

} // namespace krylith::bench
