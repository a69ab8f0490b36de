#include <krylith/tools/spmv/sparse_product.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/tools/cli/index_list.hpp>
#include <krylith/tools/cli/printable.hpp>
#include <krylith/tools/cli/quantities.hpp>
#include <krylith/tools/cli/report_schema.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::tool {

namespace {

constexpr std::string_view listed_ones = "ones:";

template <class T>
using host_pairs = typename spmspv::sparse_vector<T>::host_pairs;

template <class T>
host_pairs<T> load_sparse_vector(const std::string& x, std::int64_t entries) {
    host_pairs<T> pairs;
    if (x.starts_with(listed_ones)) {
        const std::string_view list = std::string_view(x).substr(listed_ones.size());
        std::vector<std::int64_t> places = parse_indices("--sparse", list, "entries", entries);
        std::ranges::sort(places);
        if (const auto twice = std::ranges::adjacent_find(places); twice != places.end())
            throw usage_error(
                fmt::format("--sparse is '{}': it names entry {} more than once", x, *twice + 1));
        for (const auto place : places) pairs.indices.push_back(static_cast<std::int32_t>(place));
        pairs.values.assign(pairs.indices.size(), T(1));
        return pairs;
    }
    const csr_matrix<T> column = load_matrix<T>(x);
    if (column.columns != 1 || column.rows != entries)
        throw input_error(fmt::format("{} is {} x {}: x must be {} x 1, as the matrix has that "
                                      "many columns",
                                      x, column.rows, column.columns, entries));
    for (std::int64_t row = 0; row < column.rows; ++row) {
        const auto begin = column.values.begin() + column.row_offsets[as_size(row)];
        const auto end = column.values.begin() + column.row_offsets[as_size(row) + 1];
        if (begin == end) continue;
        pairs.indices.push_back(static_cast<std::int32_t>(row));
        pairs.values.push_back(std::accumulate(begin, end, T(0))); // .kcsr may have duplicates
    }
    return pairs;
}

template <class T>
std::vector<T> scattered(const host_pairs<T>& pairs, std::int64_t size) {
    std::vector<T> all(as_size(size), T(0));
    for (std::size_t i = 0; i < pairs.indices.size(); ++i)
        all[as_size(pairs.indices[i])] = pairs.values[i];
    return all;
}

/// The nonzeros of `a` in columns that pairs name.
template <class T>
std::int64_t count_effective(const csr_matrix<T>& a, const host_pairs<T>& pairs) {
    std::vector<bool> there(as_size(a.columns), false);
    for (const auto index : pairs.indices) there[as_size(index)] = true;
    std::int64_t count = 0;
    for (const auto column : a.column_indices) count += there[as_size(column)] ? 1 : 0;
    return count;
}

/// Ascending pairs as a matrix of one column.
template <class T>
csr_matrix<T> as_column(const host_pairs<T>& pairs, std::int64_t size) {
    csr_matrix<T> column;
    column.rows = size;
    column.columns = 1;
    column.row_offsets.assign(as_size(size) + 1, 0);
    for (const auto index : pairs.indices) column.row_offsets[as_size(index) + 1] = 1;
    for (std::size_t row = 1; row < column.row_offsets.size(); ++row)
        column.row_offsets[row] += column.row_offsets[row - 1];
    column.column_indices.assign(pairs.indices.size(), 0);
    column.values = pairs.values;
    return column;
}

/// Multiplies once and returns y; then times the products.
template <class T>
host_pairs<T> multiply_and_time(const spmv_request& request, const std::string& kernel,
                                const host_pairs<T>& x_pairs,
                                std::shared_ptr<const spmspv::csr_csc_pair<T>> a,
                                sparse_product_outcome& out) {
    using semiring = spmspv::plus_times<T>;
    spmspv::sparse_vector<T> x(a->handle(), a->columns(), semiring::absent());
    spmspv::sparse_vector<T> y(a->handle(), a->rows(), semiring::absent());
    x.assign(x_pairs.indices, x_pairs.values);
    device& on = a->device();
    spmspv::adaptive_product<semiring, T> multiply(std::move(a), kernels_named(kernel));
    const auto product = [&] {
        return multiply(
            x, y, {.wanted = spmspv::vector_form::pairs, .alpha = static_cast<T>(request.alpha)});
    };
    const spmspv::product_record first = product();
    out.select_seconds = first.select_seconds;
    if (!multiply.fixed()) out.model = multiply.model().name;
    auto result = y.download_pairs();
    spmspv::product_record last = product();
    on.synchronize();
    stopwatch watch;
    for (std::int64_t i = 0; i < request.repeat; ++i) last = product();
    on.synchronize();
    out.seconds = watch.lap() / static_cast<double>(request.repeat);
    out.kernel = to_string(last.used);
    return result;
}

} // namespace

std::string sparse_vector_path(const std::string& x) {
    return x.starts_with(listed_ones) ? std::string() : x;
}

template <class T>
sparse_product_outcome run_sparse_product(const spmv_request& request, const std::string& x,
                                          const std::string& kernel) {
    check_numbers(request);
    (void)kernels_named(kernel); // a wrong name is found before the matrix is read
    const device_group group = select_devices(request.devices);
    if (group.size() != 1)
        throw usage_error(fmt::format("--devices asks for {} devices: a product with a sparse x is "
                                      "on one",
                                      group.size()));
    sparse_product_outcome out;
    stopwatch watch;
    const csr_matrix<T> matrix =
        request.spd ? load_square<T>(request.matrix, true) : load_matrix<T>(request.matrix);
    out.rows = matrix.rows;
    out.columns = matrix.columns;
    out.nnz = matrix.nnz();
    const std::int64_t x_size = request.transpose ? matrix.rows : matrix.columns;
    const std::int64_t y_size = request.transpose ? matrix.columns : matrix.rows;
    const host_pairs<T> x_pairs = load_sparse_vector<T>(x, x_size);
    out.load_seconds = watch.lap();
    std::shared_ptr<const spmspv::csr_csc_pair<T>> a;
    {
        const csr_matrix<T> mirrored = request.transpose ? transpose(matrix) : csr_matrix<T>();
        const csr_matrix<T>& multiplied = request.transpose ? mirrored : matrix;
        out.effective_nonzeros = count_effective(multiplied, x_pairs);
        a = std::make_shared<const spmspv::csr_csc_pair<T>>(group.handle(0),
                                                            csr_view<T>(multiplied));
    }
    group.synchronize();
    out.setup_seconds = watch.lap();
    const host_pairs<T> y = multiply_and_time<T>(request, kernel, x_pairs, std::move(a), out);
    out.x_entries = std::ssize(x_pairs.indices);
    out.y_entries = std::ssize(y.indices);
    const std::vector<T> before(as_size(y_size), T(0));
    compare_with_loop<T>(request, matrix, scattered<T>(x_pairs, x_size), before,
                         scattered<T>(y, y_size), out);
    if (!request.output_file.empty())
        save_matrix(request.output_file, as_column<T>(y, y_size), "product with " + request.matrix);
    out.devices = descriptions(group);
    out.kind = group.kind();
    return out;
}

template sparse_product_outcome run_sparse_product<double>(const spmv_request&, const std::string&,
                                                           const std::string&);
template sparse_product_outcome run_sparse_product<float>(const spmv_request&, const std::string&,
                                                          const std::string&);

std::string json_report(const spmv_request& request, const std::string& x,
                        const sparse_product_outcome& o) {
    const json report = {
        {"schema_version", report_schema},
        {"version", KRYLITH_VERSION},
        {"matrix",
         {{"name", request.matrix}, {"rows", o.rows}, {"columns", o.columns}, {"nnz", o.nnz}}},
        {"x", {{"name", x}, {"entries", o.x_entries}}},
        {"y", {{"entries", o.y_entries}}},
        {"effective_nonzeros", o.effective_nonzeros},
        {"kernel", o.kernel},
        {"model", o.model.empty() ? json() : json(o.model)},
        {"backend", to_string(o.kind)},
        {"devices", o.devices},
        {"spd", request.spd},
        {"transpose", request.transpose},
        {"precision", request.multiply.precision},
        {"alpha", request.alpha},
        {"repeat", request.repeat},
        {"load_seconds", o.load_seconds},
        {"setup_seconds", o.setup_seconds},
        {"seconds", o.seconds},
        {"select_seconds", o.select_seconds},
        {"largest_difference", o.largest_difference},
        {"relative_difference", o.relative_difference},
        {"agrees", o.agrees}};
    return report.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string summary(const spmv_request& request, const std::string& x,
                    const sparse_product_outcome& o) {
    return matrix_line(request, o) +
           named_line("x",
                      fmt::format("{}: {} entries, {} nonzeros in their {}", x, o.x_entries,
                                  o.effective_nonzeros, request.transpose ? "rows" : "columns")) +
           named_line("y", fmt::format("{} entries", o.y_entries)) +
           named_line("devices",
                      fmt::format("{}: {}", o.devices.size(), fmt::join(o.devices, "; "))) +
           named_line("kernel", fmt::format("{} ({}), {}", o.kernel,
                                            o.model.empty() ? std::string("as asked for")
                                                            : "by the model '" + o.model + "'",
                                            request.multiply.precision)) +
           named_line("time", fmt::format("{} a product ({} of them)", in_seconds(o.seconds),
                                          request.repeat)) +
           difference_line(o);
}

} // namespace krylith::tool
