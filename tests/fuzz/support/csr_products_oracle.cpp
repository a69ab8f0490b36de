#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/tests/fuzz/support/csr_oracle.hpp>
#include <krylith/tests/fuzz/support/require.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith::fuzz {
namespace {

template <class T>
std::vector<T> small_integers(std::int64_t count, int salt) {
    std::vector<T> values;
    for (std::int64_t k = 0; k < count; ++k)
        values.push_back(static_cast<T>((k * 7 + salt) % 17 - 8));
    return values;
}

template <class T>
std::vector<T> plain_product(const csr_view<T>& a, T alpha, const std::vector<T>& x, T beta,
                             const std::vector<T>& y) {
    std::vector<T> result;
    for (std::size_t row = 0; row < y.size(); ++row) {
        T sum = 0;
        for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
             k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k)
            sum += a.values[k] * x[static_cast<std::size_t>(a.column_indices[k])];
        result.push_back(alpha * sum + beta * y[row]);
    }
    return result;
}

/// The same with the transposed matrix.
template <class T>
std::vector<T> plain_transposed_product(const csr_view<T>& a, T alpha, const std::vector<T>& x,
                                        T beta, const std::vector<T>& y) {
    std::vector<T> sums(y.size(), T(0));
    for (std::size_t row = 0; row < x.size(); ++row)
        for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
             k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k)
            sums[static_cast<std::size_t>(a.column_indices[k])] += a.values[k] * x[row];
    for (std::size_t j = 0; j < sums.size(); ++j) sums[j] = alpha * sums[j] + beta * y[j];
    return sums;
}

template <class T>
void require_product(const matrix_operator<T>& a, const csr_view<T>& matrix, T alpha, T beta,
                     bool transposed) {
    const auto x_values = small_integers<T>(a.columns(), 3);
    const auto y_values = small_integers<T>(a.rows(), 11);
    auto x = a.make_domain_vector("x");
    auto y = a.make_range_vector("y");
    x.upload(x_values);
    y.upload(y_values);
    execution run(a.comm(), {.mode = execution_mode::eager});
    put_ghosts(run, x);
    a.apply(run, alpha, x, beta, y);
    run.flush();
    run.comm().synchronize();
    std::vector<T> result(y_values.size());
    y.download(result);
    require(result == (transposed
                           ? plain_transposed_product(matrix, alpha, x_values, beta, y_values)
                           : plain_product(matrix, alpha, x_values, beta, y_values)),
            "a product equals the plain loop's");
}

template <class T>
void require_products_of(const csr_view<T>& matrix) {
    // The groups are kept: starting worker threads would take most of the time.
    static const std::vector<device_group> groups{device_group::host(1), device_group::host(3)};
    for (const device_group& group : groups)
        for (const std::string_view name : operator_names())
            for (const std::string_view format : format_names()) {
                const operator_kind kind = parse_operator_kind(name);
                if (!kind || !kind->listed) continue; // the others would take most of the time
                const operator_options options{
                    .kind = kind, .format = parse_format_kind(format), .transposed_products = true};
                std::unique_ptr<matrix_operator<T>> a;
                try {
                    a = make_operator(group, matrix, options);
                } catch (const usage_error& no_such_format) {
                    require(std::string_view(no_such_format.what()).find("needs CUDA devices") !=
                                std::string_view::npos,
                            "an accepted matrix makes an operator");
                    continue;
                }
                require_product<T>(*a, matrix, 1, 0, false);
                require_product<T>(*a, matrix, 2, -1, false);
                require_product<T>(a->transposed(), matrix, 2, -1, true);
            }
}

} // namespace

void require_products(const csr_view<double>& matrix) {
    require_products_of(matrix);
    const std::vector<float> narrow(matrix.values.begin(), matrix.values.end());
    require_products_of(csr_view<float>(matrix.rows, matrix.columns, matrix.row_offsets,
                                        matrix.column_indices, narrow));
}

} // namespace krylith::fuzz
