#include <krylith/bench/streamed/streamed_arrays.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

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

/// The line of each entry.
std::vector<std::int32_t> expanded(const std::vector<std::int64_t>& offsets) {
    std::vector<std::int32_t> result(static_cast<std::size_t>(offsets.back()));
    for (std::size_t line = 0; line + 1 < offsets.size(); ++line) {
        std::fill(result.begin() + offsets[line], result.begin() + offsets[line + 1],
                  static_cast<std::int32_t>(line));
    }
    return result;
}

} // namespace

const std::vector<std::string>& streamed_formats() {
    static const std::vector<std::string> names = {"csr", "csc", "coo", "coo-columns",
                                                   "coo-unsorted"};
    return names;
}

streamed_arrays::streamed_arrays(const workload& w, const std::string& format)
    : w_(w), format_(format) {
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
    } else if (format == "coo" || format == "coo-unsorted") {
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
    } else {
        std::string known;
        for (const std::string& name : streamed_formats()) {
            known += " " + name;
        }
        throw usage_error("unknown format '" + format + "'; allowed are" + known);
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

streamed_times streamed_arrays::multiply(streamed_product<double>& product, bool pinned) {
    const std::span<const double> x = x_.at(pinned);
    const std::span<double> y =
        pinned ? std::span(reinterpret_cast<double*>(y_.pinned_memory.data()), y_.own.size())
               : std::span(y_.own);
    result_ = y;
    const std::int64_t n = w_.n();
    if (format_ == "csr") {
        return product(
            csr_view<double>(n, n, offsets_.at(pinned), columns_.at(pinned), values_.at(pinned)), x,
            y);
    }
    if (format_ == "csc") {
        return product(
            csc_view<double>(n, n, offsets_.at(pinned), rows_.at(pinned), values_.at(pinned)), x,
            y);
    }
    const coo_order order = format_ == "coo"           ? coo_order::by_rows
                            : format_ == "coo-columns" ? coo_order::by_columns
                                                       : coo_order::unsorted;
    return product(
        coo_view<double>(n, n, rows_.at(pinned), columns_.at(pinned), values_.at(pinned)), order, x,
        y);
}

} // namespace krylith::bench
