// The product that chooses its kernel: it is right whatever is chosen, its record says what was,
// and it neither computes features nor converts forms that it does not need.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/spmspv/adaptive_product.hpp>
#include <krylith/spmspv/selection/product_features.hpp>

#include <krylith/tests/spmspv/one_device.hpp>

namespace krylith::spmspv {

namespace {

/// Every `step`th column, with values whose sums are exact in double.
struct pairs {
    std::vector<std::int32_t> indices;
    std::vector<double> values;

    pairs(std::int64_t n, int step) {
        for (std::int64_t j = 0; j < n; j += step) {
            indices.push_back(static_cast<std::int32_t>(j));
            values.push_back(static_cast<double>(j % 7 + 1));
        }
    }
};

/// A web graph with small whole numbers for values.
csr_matrix<double> whole_numbers() {
    csr_matrix<double> a = web<double>(700, 12);
    for (std::size_t k = 0; k < a.values.size(); ++k) a.values[k] = static_cast<double>(k % 5) - 2;
    return a;
}

std::vector<double> multiplied(const csr_matrix<double>& a, const pairs& x) {
    std::vector<double> dense(static_cast<std::size_t>(a.columns), 0);
    for (std::size_t k = 0; k < x.indices.size(); ++k)
        dense[static_cast<std::size_t>(x.indices[k])] = x.values[k];
    std::vector<double> y(static_cast<std::size_t>(a.rows), 0);
    for (std::size_t i = 0; i < y.size(); ++i)
        for (auto k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            const auto entry = static_cast<std::size_t>(k);
            y[i] += a.values[entry] * dense[static_cast<std::size_t>(a.column_indices[entry])];
        }
    return y;
}

std::int64_t nonzeros_of(const csr_matrix<double>& a, const pairs& x) {
    std::vector<bool> there(static_cast<std::size_t>(a.columns), false);
    for (const std::int32_t j : x.indices) there[static_cast<std::size_t>(j)] = true;
    std::int64_t frontier_nonzeros = 0;
    for (const std::int32_t j : a.column_indices)
        frontier_nonzeros += there[static_cast<std::size_t>(j)];
    return frontier_nonzeros;
}

std::shared_ptr<const kernel_model> model_of(const std::string& direction_tree) {
    return std::make_shared<const kernel_model>(
        parse_model("krylith kernel model 1\narchitecture host\ntree pattern\n" + direction_tree +
                        "tree row_distribution\nleaf direct\ntree column_distribution\n"
                        "leaf balanced\ntree write_back\nleaf atomic\n",
                    "test"));
}

const std::string by_ratio = "node effective_ratio 0.1 1 2\nleaf column\n"
                             "node effective_ratio 0.6 3 4\nleaf row\nleaf spmv\n";

using product = adaptive_product<plus_times<double>, double>;

} // namespace

KRYLITH_DEVICE_TEST("adaptive product: right whatever is chosen, and told") {
    const csr_matrix<double> a = whole_numbers();
    const auto matrix = std::make_shared<const csr_csc_pair<double>>(device, csr_view<double>(a));
    product multiply(matrix, {.model = model_of(by_ratio)});
    sparse_vector<double> x(device, a.columns, 0);
    sparse_vector<double> y(device, a.rows, 0);
    std::vector<direction> used;
    for (const int step : {700, 100, 2, 1, 3, 50, 701}) {
        const pairs entries(a.columns, step);
        x.assign(entries.indices, entries.values);
        const vector_form wanted = step % 2 == 0 ? vector_form::pairs : vector_form::dense;
        const product_record told = multiply(x, y, {.wanted = wanted});
        CAPTURE(step);
        CHECK(y.forms().has(wanted));
        CHECK(y.download_dense() == multiplied(a, entries));
        CHECK(told.frontier_nonzeros == nonzeros_of(a, entries));
        CHECK(told.entries == static_cast<std::int64_t>(entries.indices.size()));
        CHECK(told.select_seconds > 0);
        CHECK(direction_of(told.used) == direction_of(told.predicted)); // each jump is a factor
        used.push_back(direction_of(told.used));
    }
    CHECK(used == std::vector<direction>{direction::push, direction::push, direction::pull,
                                         direction::dense, direction::pull, direction::push,
                                         direction::push});
    x.clear();
    CHECK(direction_of(multiply(x, y).used) == direction::push);
    CHECK(y.download_dense() == std::vector<double>(static_cast<std::size_t>(a.rows), 0));
}

KRYLITH_DEVICE_TEST("adaptive product: a fixed kernel is taken, and nothing is asked") {
    const csr_matrix<double> a = whole_numbers();
    const auto matrix = std::make_shared<const csr_csc_pair<double>>(device, csr_view<double>(a));
    const pairs entries(a.columns, 5);
    sparse_vector<double> x(device, a.columns, 0);
    sparse_vector<double> y(device, a.rows, 0);
    for (int number = 0; number < kernel_count; ++number) {
        const auto k = static_cast<kernel>(number);
        product multiply(matrix, {.fixed = k});
        x.assign(entries.indices, entries.values);
        const product_record told = multiply(x, y);
        CHECK(told.used == k);
        CHECK(told.predicted == k);
        CHECK(told.frontier_nonzeros == -1);
        CHECK(y.download_dense() == multiplied(a, entries));
        CHECK(multiply.fixed() == k);
    }
}

KRYLITH_DEVICE_TEST("adaptive product: what no tree asks for is not found out") {
    const csr_matrix<double> a = whole_numbers();
    const auto matrix = std::make_shared<const csr_csc_pair<double>>(device, csr_view<double>(a));
    sparse_vector<double> x(device, a.columns, 0);
    sparse_vector<double> y(device, a.rows, 0);
    const std::vector<double> ones(static_cast<std::size_t>(a.columns), 1);

    // Some features are those of the matrix and of forms alone.
    product free_of_charge(matrix, {.model = model_of("node has_pairs 0.5 1 2\nleaf spmv\n"
                                                      "node gini 2 3 4\nleaf column\nleaf row\n")});
    x.assign(ones);
    product_record told = free_of_charge(x, y);
    CHECK(told.used == kernel::spmv);
    CHECK(told.entries == -1);
    CHECK(told.frontier_nonzeros == -1);
    CHECK_FALSE(x.known_count());
    CHECK(x.forms() == vector_forms(vector_form::dense)); // no conversion
    told = free_of_charge(x, y);
    CHECK(x.forms() == vector_forms(vector_form::dense));
    CHECK(y.forms() == vector_forms(vector_form::dense));

    // Others need the number of entries, which takes a count of x.
    product by_entries(matrix, {.model = model_of("node density 0.5 1 2\nleaf row\nleaf spmv\n")});
    x.assign(ones);
    told = by_entries(x, y);
    CHECK(told.entries == a.columns);
    CHECK(told.frontier_nonzeros == -1);

    // Others need effective nonzeros.
    const pairs entries(a.columns, 9);
    product by_nonzeros(matrix, {.model = model_of(by_ratio)});
    x.assign(entries.indices, entries.values);
    CHECK(by_nonzeros(x, y).frontier_nonzeros == nonzeros_of(a, entries));
    // The number that the caller gives is taken.
    CHECK(by_nonzeros(x, y, {}, 17).frontier_nonzeros == 17);

    // The model asks for them only where the caller gave them.
    product where_known(
        matrix, {.model = model_of("node knows_work 0.5 1 2\nleaf column\n"
                                   "node effective_nonzeros 10000 3 4\nleaf row\nleaf spmv\n")});
    x.assign(entries.indices, entries.values);
    told = where_known(x, y);
    CHECK(told.used == kernel::column_balanced_atomic);
    CHECK(told.frontier_nonzeros == -1);
    CHECK(y.download_dense() == multiplied(a, entries));
    where_known.restart();
    CHECK(where_known(x, y, {}, 17).used == kernel::row);
}

KRYLITH_DEVICE_TEST("adaptive product: features of a product, each by the way it is known") {
    const csr_matrix<double> a = whole_numbers();
    const csr_csc_pair<double> matrix(device, csr_view<double>(a));
    sparse_vector<double> x(device, a.columns, 0);
    const pairs entries(a.columns, 10);
    x.assign(entries.indices, entries.values);
    product_features<double, double> f(matrix, x, vector_form::pairs, -1);
    CHECK(f(feature::rows) == static_cast<double>(a.rows));
    CHECK(f(feature::nonzeros) == static_cast<double>(a.nnz()));
    CHECK(f(feature::has_pairs) == 1);
    CHECK(f(feature::has_dense) == 0);
    CHECK(f(feature::wants_pairs) == 1);
    CHECK(f(feature::density) == doctest::Approx(0.1));
    CHECK(f.known_nonzeros() == -1);
    CHECK(f.guessed_ratio() == doctest::Approx(0.1));
    CHECK(f(feature::expected_nonzeros) ==
          doctest::Approx(static_cast<double>(a.nnz()) * f(feature::density)));
    CHECK(f(feature::most_nonzeros) ==
          std::min(static_cast<double>(a.nnz()),
                   f(feature::entries) * matrix.features().longest_row));
    CHECK(f(feature::knows_work) == 0);
    const auto frontier_nonzeros = static_cast<double>(nonzeros_of(a, entries));
    CHECK(f(feature::effective_nonzeros) == frontier_nonzeros);
    CHECK(f(feature::effective_ratio) == frontier_nonzeros / static_cast<double>(a.nnz()));
    CHECK(f.guessed_ratio() == frontier_nonzeros / static_cast<double>(a.nnz()));
    CHECK(f(feature::knows_work) == 1); // they are known after the count
    const product_features<double, double> told(matrix, x, vector_form::pairs, 17);
    CHECK(told.knows_work());
    // Counting from dense makes bits: the flags of forms are those of the start.
    x.assign(std::vector<double>(static_cast<std::size_t>(a.columns), 3));
    product_features<double, double> dense(matrix, x, vector_form::dense, -1);
    CHECK(dense.known_entries() == -1);
    CHECK(dense.guessed_ratio() == -1);
    CHECK(dense(feature::knows_work) == 0);
    CHECK(dense.known_entries() == -1); // the model did not ask for them
    CHECK(dense(feature::entries) == static_cast<double>(a.columns));
    CHECK(dense(feature::knows_work) == 1); // x is full
    CHECK(dense(feature::has_bits) == 0);
    CHECK(dense(feature::effective_nonzeros) == static_cast<double>(a.nnz()));
}

KRYLITH_DEVICE_TEST("adaptive product: a matrix without rows, columns or entries") {
    struct sizes {
        std::int64_t rows, columns;
    };
    for (const sizes s : {sizes{0, 5}, sizes{5, 0}, sizes{3, 4}, sizes{0, 0}}) {
        csr_matrix<double> a;
        a.rows = s.rows;
        a.columns = s.columns;
        a.row_offsets.assign(static_cast<std::size_t>(s.rows) + 1, 0);
        const auto matrix =
            std::make_shared<const csr_csc_pair<double>>(device, csr_view<double>(a));
        product multiply(matrix, {.model = model_of(by_ratio)});
        sparse_vector<double> x(device, a.columns, 0);
        sparse_vector<double> y(device, a.rows, 0);
        x.assign(std::vector<double>(static_cast<std::size_t>(a.columns), 1));
        for (const vector_form wanted : {vector_form::pairs, vector_form::dense}) {
            (void)multiply(x, y, {.wanted = wanted});
            CHECK(y.count() == 0);
        }
    }
}

KRYLITH_DEVICE_TEST("adaptive product: reproducible products sort, where sums are not exact") {
    const csr_matrix<double> a = whole_numbers();
    const auto matrix = std::make_shared<const csr_csc_pair<double>>(device, csr_view<double>(a));
    const auto column = model_of("leaf column\n");
    const pairs entries(a.columns, 3);
    sparse_vector<double> x(device, a.columns, 0);
    sparse_vector<double> y(device, a.rows, 0);
    x.assign(entries.indices, entries.values);
    product multiply(matrix, {.model = column, .reproducible = true});
    const product_record told = multiply(x, y);
    CHECK(told.predicted == kernel::column_balanced_atomic);
    CHECK(told.used == kernel::column_balanced_sort);
    CHECK(y.download_dense() == multiplied(a, entries));
    // Values that are not read don't make sums exact.
    adaptive_product<plus_second<double>, double> sums(matrix,
                                                       {.model = column, .reproducible = true});
    CHECK(sums(x, y).used == kernel::column_balanced_sort);
    // Least columns are the same in any order.
    adaptive_product<min_column, double> least(matrix, {.model = column, .reproducible = true});
    sparse_vector<std::int32_t> from(device, a.columns, min_column::absent());
    sparse_vector<std::int32_t> to(device, a.rows, min_column::absent());
    from.assign(std::vector<std::int32_t>{3},
                std::vector<std::int32_t>{1}); // few entries: a column kernel stays
    CHECK(least(from, to).used == kernel::column_balanced_atomic);
}

KRYLITH_DEVICE_TEST("adaptive product: every semiring with either matrix") {
    const csr_matrix<double> a = whole_numbers();
    const pairs entries(a.columns, 4);
    const auto reached = [&]<class S, class M>(S, M) {
        csr_matrix<M> b;
        b.rows = a.rows;
        b.columns = a.columns;
        b.row_offsets = a.row_offsets;
        b.column_indices = a.column_indices;
        b.values.assign(a.values.size(), 1);
        using T = typename S::value_type;
        adaptive_product<S, M> multiply(
            std::make_shared<const csr_csc_pair<M>>(device, csr_view<M>(b)));
        sparse_vector<T> x(device, a.columns, S::absent());
        sparse_vector<T> y(device, a.rows, S::absent());
        x.assign(entries.indices, std::vector<T>(entries.indices.size(), T(1)));
        (void)multiply(x, y, {.wanted = vector_form::pairs});
        return y.download_pairs().indices;
    };
    const std::vector<std::int32_t> expected = reached(plus_times<double>(), double());
    CHECK_FALSE(expected.empty());
    CHECK(reached(plus_times<float>(), float()) == expected);
    CHECK(reached(plus_second<double>(), double()) == expected);
    CHECK(reached(plus_second<double>(), float()) == expected);
    CHECK(reached(plus_second<float>(), double()) == expected);
    CHECK(reached(plus_second<float>(), float()) == expected);
    CHECK(reached(or_and<double>(), double()) == expected);
    CHECK(reached(or_and<double>(), float()) == expected);
    CHECK(reached(or_and<float>(), double()) == expected);
    CHECK(reached(or_and<float>(), float()) == expected);
    CHECK(reached(min_plus<double>(), double()) == expected);
    CHECK(reached(min_plus<float>(), float()) == expected);
    CHECK(reached(min_column(), double()) == expected);
    CHECK(reached(min_column(), float()) == expected);
}

TEST_CASE("adaptive product: as predicted, no row stands in and no second prediction is awaited") {
    const device_group group = device_group::host(1);
    const csr_matrix<double> a = whole_numbers();
    const auto matrix =
        std::make_shared<const csr_csc_pair<double>>(group.handle(0), csr_view<double>(a));
    adaptive_product<min_column, double> multiply(
        matrix, {.model = model_of("leaf spmv\n"), .as_predicted = true});
    sparse_vector<std::int32_t> x(group.handle(0), a.columns, min_column::absent());
    sparse_vector<std::int32_t> y(group.handle(0), a.rows, min_column::absent());
    x.assign(std::vector<std::int32_t>{3}, std::vector<std::int32_t>{1});
    const product_record told = multiply(x, y);
    CHECK(told.predicted == kernel::spmv);
    CHECK(told.used == kernel::spmv);

    // The ratio crosses a border near by, where a second prediction would be waited for.
    const auto border = model_of("node density 0.1 1 2\nleaf column\nleaf spmv\n");
    sparse_vector<double> from(group.handle(0), a.columns, 0);
    sparse_vector<double> to(group.handle(0), a.rows, 0);
    for (const bool as_predicted : {true, false}) {
        product numbers(matrix, {.model = border, .as_predicted = as_predicted});
        std::vector<direction> used;
        for (const int step : {11, 9}) {
            const pairs entries(a.columns, step);
            from.assign(entries.indices, entries.values);
            used.push_back(direction_of(numbers(from, to).used));
        }
        CHECK(used == std::vector<direction>{direction::push,
                                             as_predicted ? direction::dense : direction::push});
    }
}

TEST_CASE("adaptive product: what contradicts is refused") {
    const device_group group = device_group::host(1);
    CHECK_THROWS_WITH_AS(product(nullptr), "adaptive_product: the matrix is null", usage_error);
    const csr_matrix<double> a = whole_numbers();
    const auto matrix =
        std::make_shared<const csr_csc_pair<double>>(group.handle(0), csr_view<double>(a));
    CHECK_THROWS_WITH_AS(product(matrix, {.fixed = kernel::column_atomic, .reproducible = true}),
                         doctest::Contains("the fixed kernel is column-atomic"), usage_error);
    CHECK_NOTHROW(product(matrix, {.fixed = kernel::column_sort, .reproducible = true}));
    CHECK_NOTHROW(product(matrix, {.fixed = kernel::spmv_balanced, .reproducible = true}));
    CHECK(product(matrix).model().architecture == "host");
}

KRYLITH_DEVICE_TEST("adaptive product: row for spmv where the first term suffices") {
    const csr_matrix<double> a = whole_numbers();
    const auto matrix = std::make_shared<const csr_csc_pair<double>>(device, csr_view<double>(a));
    const auto used = [&]<class S>(S, const char* says, const pairs& entries) {
        using T = typename S::value_type;
        adaptive_product<S, double> multiply(matrix, {.model = model_of(says)});
        sparse_vector<T> x(device, a.columns, S::absent());
        sparse_vector<T> y(device, a.rows, S::absent());
        x.assign(entries.indices, std::vector<T>(entries.indices.size(), T(1)));
        const product_record record = multiply(x, y);
        CHECK(record.predicted == record.used);
        return record.used;
    };
    const pairs few(a.columns, 700);
    CHECK(used(or_and<double>(), "leaf spmv\n", few) == kernel::row);
    CHECK(used(min_column(), "leaf spmv\n", few) == kernel::row);
    CHECK(used(plus_times<double>(), "leaf spmv\n", few) == kernel::spmv);
    CHECK(used(plus_second<double>(), "leaf spmv\n", few) == kernel::spmv);
    CHECK(used(min_plus<double>(), "leaf spmv\n", few) == kernel::spmv);
    // Row kernels take the place of column kernels too, once x has many entries.
    const pairs many(a.columns, 2);
    CHECK(used(or_and<double>(), "leaf column\n", few) == kernel::column_balanced_atomic);
    CHECK(used(or_and<double>(), "leaf column\n", many) == kernel::row);
    CHECK(used(min_column(), "leaf column\n", many) == kernel::row);
    CHECK(used(min_plus<double>(), "leaf column\n", many) == kernel::column_balanced_atomic);
}

} // namespace krylith::spmspv
