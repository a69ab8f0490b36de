#include <krylith/bench/streamed/streamed_arrays.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/conversions.hpp>

namespace krylith::bench {

namespace {

/// to[i] = from[place of i], where places run through all of them in steps without a pattern that
/// caches could use: an order in which neither rows nor columns ascend.
template <class E>
void scatter(std::vector<E>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    std::int64_t step = static_cast<std::int64_t>(0.381966 * static_cast<double>(count)) + 1;
    while (std::gcd(step, count) > 1) {
        ++step;
    }
    std::vector<E> to(values.size());
    std::int64_t place = 0;
    for (E& value : to) {
        value = values[static_cast<std::size_t>(place)];
        place = (place + step) % count;
    }
    values.swap(to);
}

/// The row (column) of each entry.
std::vector<std::int32_t> expanded(const std::vector<std::int64_t>& offsets) {
    std::vector<std::int32_t> result(static_cast<std::size_t>(offsets.back()));
    for (std::size_t major = 0; major + 1 < offsets.size(); ++major) {
        std::fill(result.begin() + offsets[major], result.begin() + offsets[major + 1],
                  static_cast<std::int32_t>(major));
    }
    return result;
}

} // namespace

const std::vector<std::string>& streamed_formats() {
    static const std::vector<std::string> names = {"csr", "csc", "coo", "coo-columns",
                                                   "coo-unsorted"};
    return names;
}

streamed_arrays::streamed_arrays(const workload& w, const std::string& format) : w_(w) {
    const auto& names = streamed_formats();
    const auto found = std::ranges::find(names, format);
    if (found == names.end()) {
        throw usage_error(
            fmt::format("unknown format '{}'; allowed are {}", format, fmt::join(names, " ")));
    }
    form_ = static_cast<streamed_form>(found - names.begin()); // both in the same order
    const csr_matrix<double>& a = w.matrix;
    if (a.rows != a.columns) {
        throw usage_error("the matrix has " + std::to_string(a.rows) + " rows and " +
                          std::to_string(a.columns) + " columns, must have as many");
    }
    x_.from = w.b;
    y_.own.resize(w.b.size());
    y_.from = y_.own;
    columns_.from = a.column_indices;
    values_.from = a.values;
    if (format == "csr") {
        offsets_.from = a.row_offsets;
    } else if (format == "csc" || format == "coo-columns") {
        csc_matrix<double> by_columns = to_csc(a);
        values_.own = std::move(by_columns.values);
        values_.from = values_.own;
        rows_.own = std::move(by_columns.row_indices);
        columns_.from = {};
        if (format == "csc") {
            offsets_.own = std::move(by_columns.column_offsets);
            offsets_.from = offsets_.own;
        } else {
            columns_.own = expanded(by_columns.column_offsets);
            columns_.from = columns_.own;
        }
    } else {
        rows_.own = expanded(a.row_offsets);
        if (format == "coo-unsorted") {
            columns_.own = a.column_indices;
            values_.own = a.values;
            scatter(rows_.own);
            scatter(columns_.own);
            scatter(values_.own);
            columns_.from = columns_.own;
            values_.from = values_.own;
        }
    }
    rows_.from = rows_.own;
}

void streamed_arrays::pin(const device_group& group) {
    const numa_topology anywhere = one_numa_node(group.size());
    const auto copy = [&](auto& array) {
        const std::size_t bytes = array.from.size_bytes();
        array.pinned_memory = {};
        array.pinned_memory = node_memory(anywhere, 0, bytes, group.handle(0));
        if (bytes != 0) {
            std::memcpy(array.pinned_memory.data(), array.from.data(), bytes);
        }
    };
    copy(offsets_);
    copy(rows_);
    copy(columns_);
    copy(values_);
    copy(x_);
    copy(y_);
}

streamed_times streamed_arrays::multiply(streamed_contestant& product, bool pinned) {
    const std::span<double> y =
        pinned ? std::span(reinterpret_cast<double*>(y_.pinned_memory.data()), y_.own.size())
               : std::span(y_.own);
    result_ = y;
    return product.multiply({form_, w_.n(), w_.n(), offsets_.at(pinned), rows_.at(pinned),
                             columns_.at(pinned), values_.at(pinned)},
                            x_.at(pinned), y);
}

} // namespace krylith::bench
