// Operators of matrices whose arrays lie on the devices, and values that arrive there.
#include <algorithm>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/element_arrays.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/operator_product.hpp>
#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/tables.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::name_of;
using testing::product;
using testing::random_values;
using testing::values_of;

namespace {

/// A simulation's arrays: rows are partitioned unevenly, and the last device has none.
template <class T, class Offset>
struct device_arrays {
    std::vector<buffer<Offset>> offsets;
    std::vector<buffer<std::int32_t>> columns;
    std::vector<buffer<T>> values;
    std::vector<csr_part<T>> parts;
    std::vector<std::int64_t> begin{0};
    std::vector<std::int64_t> first_nonzero;

    device_arrays(const device_group& group, const csr_matrix<T>& matrix) {
        for (int rank = 0; rank < group.size(); ++rank) {
            const auto& device = group.handle(rank);
            const bool last = rank == std::max(0, group.size() - 2);
            const std::int64_t end =
                last ? matrix.rows : std::min(matrix.rows, begin.back() + matrix.rows / (rank + 2));
            const auto at = [&](std::int64_t row) {
                return matrix.row_offsets[static_cast<std::size_t>(row)];
            };
            std::vector<Offset> own; // they don't begin at 0, as in a part of a larger array
            for (std::int64_t row = begin.back(); row <= end; ++row)
                own.push_back(static_cast<Offset>(at(row) + 5));
            const auto first = static_cast<std::size_t>(at(begin.back()));
            const auto count = static_cast<std::size_t>(at(end)) - first;
            first_nonzero.push_back(at(begin.back()));
            offsets.emplace_back(device, std::span<const Offset>(own), "test");
            columns.emplace_back(device, std::span(matrix.column_indices).subspan(first, count),
                                 "test");
            values.emplace_back(device, std::span(matrix.values).subspan(first, count), "test");
            parts.push_back({end - begin.back(), offsets.back().data(), columns.back().data(),
                             values.back().data()});
            begin.push_back(end);
        }
        first_nonzero.push_back(matrix.nnz());
    }

    /// Uploads other values into other arrays.
    [[nodiscard]] std::vector<buffer<T>> upload(const device_group& group,
                                                const std::vector<T>& all) const {
        std::vector<buffer<T>> result;
        for (int rank = 0; rank < group.size(); ++rank) {
            const auto r = static_cast<std::size_t>(rank);
            const auto first = static_cast<std::size_t>(first_nonzero[r]);
            result.emplace_back(group.handle(rank),
                                std::span(all).subspan(
                                    first, static_cast<std::size_t>(first_nonzero[r + 1]) - first),
                                "test");
        }
        return result;
    }
};

template <class T>
std::vector<const T*> pointers(const std::vector<buffer<T>>& arrays) {
    std::vector<const T*> result;
    for (const auto& array : arrays) result.push_back(array.data());
    return result;
}

template <class T>
bool is_product(const csr_matrix<T>& matrix, const std::vector<T>& x, const std::vector<T>& y) {
    const auto expected = testing::product(matrix, T(1), x, T(0), x);
    bool good = true;
    for (std::size_t i = 0; i < y.size(); ++i) good = good && expected[i].template allows<T>(y[i]);
    return good;
}

template <class T>
std::vector<T> diagonal_of(const matrix_operator<T>& a) {
    auto d = a.make_range_vector();
    a.diagonal(d);
    return values_of(d);
}

template <class T, class Offset>
void check_parts(const device_group& group) {
    const auto first = testing::converted<T>(testing::random_matrix(700, 6, 2, 61));
    auto second = first;
    for (auto& v : second.values) v = T(1) - T(3) * v;
    const auto x0 = random_values<T>(700, 62);
    const device_arrays<T, Offset> arrays(group, first);
    for (const auto kind : testing::operators_from_devices())
        for (const auto format : testing::formats_of(group.kind()))
            for (const bool borrow : {false, true}) {
                CAPTURE(name_of(kind));
                CAPTURE(name_of(format));
                CAPTURE(borrow);
                if (borrow && kind->deals) {
                    CHECK_THROWS_WITH_AS(
                        (void)make_operator<T>(group, arrays.parts, {kind, format, borrow}),
                        doctest::Contains("can't borrow"), usage_error);
                    continue;
                }
                const auto a = make_operator<T>(group, arrays.parts, {kind, format, borrow});
                CHECK(a->layout()->rows.begin == arrays.begin);
                CHECK(is_product(first, x0, product(*a, x0)));
                CHECK(diagonal_of(*a) == diagonal(first));
                const auto other = arrays.upload(group, second.values);
                a->update_on_devices(pointers(other));
                CHECK(is_product(second, x0, product(*a, x0)));
                CHECK(diagonal_of(*a) == diagonal(second));
                a->update_on_devices(pointers(arrays.values));
                CHECK(is_product(first, x0, product(*a, x0)));
                if (borrow && format->borrows) {
                    CHECK_THROWS_WITH_AS(a->update(second.values), doctest::Contains("borrow"),
                                         usage_error);
                } else {
                    a->update(second.values); // an update from the host
                    CHECK(is_product(second, x0, product(*a, x0)));
                    CHECK(diagonal_of(*a) == diagonal(second));
                }
            }
}

} // namespace

KRYLITH_GROUP_TEST("parts: the operator of arrays on the devices, with new values there") {
    check_parts<double, std::int32_t>(group);
    check_parts<double, std::int64_t>(group);
    check_parts<float, std::int32_t>(group);
}

KRYLITH_GROUP_TEST("parts: arrays may be overwritten once the operator is made") {
    const auto matrix = testing::random_matrix(60000, 4, 2, 67);
    const auto x0 = random_values<double>(matrix.rows, 68);
    for (const auto kind : testing::operators_from_devices()) {
        CAPTURE(name_of(kind));
        device_arrays<double, std::int64_t> arrays(group, matrix);
        const auto a = make_operator<double>(group, arrays.parts, {kind, formats::csr});
        if (group.kind() == backend::host) // as freed memory would be, by another thread
            for (std::size_t rank = 0; rank < arrays.values.size(); ++rank)
                std::fill_n(arrays.values[rank].data(), arrays.values[rank].size(), NAN);
        CHECK(is_product(matrix, x0, product(*a, x0)));
    }
}

// Borrowed values stay borrowed: krylith has no bytes of its own for values, and the caller's
// writes count.
KRYLITH_GROUP_TEST("parts: borrowed values are read where they are") {
    const auto matrix = testing::random_matrix(500, 8, 2, 63);
    device_arrays<double, std::int32_t> arrays(group, matrix);
    const auto matrix_bytes = [&] {
        std::size_t sum = 0;
        for (int rank = 0; rank < group.size(); ++rank)
            for (const auto& item : group[rank].ledger().items())
                if (item.first == "matrix") sum += item.second;
        return sum;
    };
    const auto x0 = random_values<double>(500, 64);
    for (const auto kind : testing::operators_from_devices()) {
        if (kind->deals) continue;
        const auto copied = make_operator<double>(group, arrays.parts, {kind, formats::csr});
        const std::size_t with_copy = matrix_bytes();
        const auto borrowed =
            make_operator<double>(group, arrays.parts, {kind, formats::automatic, true});
        CHECK(borrowed->format_name() == "csr");
        const std::size_t saved = with_copy - (matrix_bytes() - with_copy);
        const auto nnz = static_cast<std::size_t>(matrix.nnz());
        bool global_columns = kind != operators::halo;
        for (int rank = 0; rank < group.size(); ++rank)
            global_columns =
                global_columns || copied->layout()->rows.owned(rank).size() == matrix.rows;
        CHECK(saved == nnz * (sizeof(double) + (global_columns ? sizeof(std::int32_t) : 0)));

        auto doubled = matrix.values;
        for (auto& v : doubled) v *= 2;
        const auto other = arrays.upload(group, doubled);
        for (int rank = 0; rank < group.size(); ++rank) {
            auto& mine = arrays.values[static_cast<std::size_t>(rank)];
            if (mine.size() != 0) // as a simulation's kernel would write
                group[rank].copy(mine.data(), other[static_cast<std::size_t>(rank)].data(),
                                 mine.size() * sizeof(double));
        }
        auto twice = matrix;
        twice.values = doubled;
        CHECK(is_product(twice, x0, product(*borrowed, x0)));
        CHECK(is_product(matrix, x0, product(*copied, x0)));
        const auto before = arrays.upload(group, matrix.values);
        for (int rank = 0; rank < group.size(); ++rank) {
            auto& mine = arrays.values[static_cast<std::size_t>(rank)];
            if (mine.size() != 0)
                group[rank].copy(mine.data(), before[static_cast<std::size_t>(rank)].data(),
                                 mine.size() * sizeof(double));
        }
        group.synchronize();
    }
}

KRYLITH_GROUP_TEST("parts: what can't be accepted is named") {
    const auto matrix = testing::random_matrix(60, 3, 1, 65);
    const device_arrays<double, std::int32_t> arrays(group, matrix);
    const auto refused = [&](auto change, const char* what) {
        auto parts = arrays.parts;
        change(parts);
        CHECK_THROWS_WITH_AS(
            (void)make_operator<double>(group, std::span<const csr_part<double>>(parts)),
            doctest::Contains(what), error);
    };
    refused([](auto& parts) { parts.push_back({}); }, "parts for");
    refused([](auto& parts) { parts[0].rows = -1; }, "part 0: -1 rows");
    refused([](auto& parts) { parts[0].values = nullptr; }, "part 0: values is null");
    refused([](auto& parts) { parts[0].column_indices = nullptr; }, "column_indices is null");
    refused([](auto& parts) { parts[0].row_offsets = {}; }, "row_offsets is null");

    std::vector<std::int32_t> offsets(61, 5);
    offsets[1] = 7; // row 1 then ends before it starts
    const buffer<std::int32_t> descending(group.handle(0), std::span<const std::int32_t>(offsets),
                                          "test");
    refused([&](auto& parts) { parts[0].row_offsets = descending.data(); }, "row 1 (part 0)");
    auto far = matrix.column_indices;
    far[0] = 60;
    const buffer<std::int32_t> outside(group.handle(0), std::span<const std::int32_t>(far), "test");
    refused([&](auto& parts) { parts[0].column_indices = outside.data(); }, "in row 0, is 60");
    if (group.kind() == backend::cuda) // on host devices such a pointer is right
        refused([&](auto& parts) { parts[0].values = matrix.values.data(); }, "host memory");

    const auto a = make_operator<double>(group, arrays.parts);
    CHECK_THROWS_WITH_AS(a->update_on_devices({}), doctest::Contains("0 arrays"), usage_error);
    std::vector<const double*> values = pointers(arrays.values);
    values[0] = nullptr;
    CHECK_THROWS_WITH_AS(a->update_on_devices(values), doctest::Contains("rank 0 is null"),
                         usage_error);
}

KRYLITH_GROUP_TEST("parts: coordinate entries on the devices, new values by one gather") {
    const auto first = testing::random_matrix(400, 5, 2, 69);
    auto second = first;
    for (auto& v : second.values) v = 1 - 3 * v;
    const auto x0 = random_values<double>(400, 62);
    const testing::element_arrays arrays(group, first);
    const testing::element_arrays other(group, second);
    for (const auto kind : testing::operators_from_devices())
        for (const auto format : testing::formats_of(group.kind())) {
            CAPTURE(name_of(kind));
            CAPTURE(name_of(format));
            const auto a = make_operator<double>(group, arrays.parts, {kind, format});
            CHECK(is_product(first, x0, product(*a, x0)));
            a->update_on_devices(pointers(other.values));
            CHECK(is_product(second, x0, product(*a, x0)));
            a->update(arrays.all);
            CHECK(is_product(first, x0, product(*a, x0)));
            CHECK_THROWS_WITH_AS(a->update(first.values), doctest::Contains("must be"),
                                 usage_error);
        }
    auto parts = arrays.parts;
    std::vector<std::int32_t> elsewhere(static_cast<std::size_t>(parts[0].entries), 400);
    const buffer<std::int32_t> far(group.handle(0), std::span<const std::int32_t>(elsewhere),
                                   "test");
    parts[0].row_indices = far.data();
    CHECK_THROWS_WITH_AS((void)make_operator<double>(group, parts),
                         doctest::Contains("part 0: row_indices["), input_error);
    parts[0].entries = -1;
    CHECK_THROWS_WITH_AS((void)make_operator<double>(group, parts), doctest::Contains("-1 entries"),
                         usage_error);
}

KRYLITH_GROUP_TEST("the diagonal of an operator is that of its matrix, whatever the format") {
    auto matrix = testing::random_matrix(333, 5, 2, 66);
    matrix.values[4] = 0;
    const auto expected = diagonal(matrix);
    for (const auto kind : {operators::nz, operators::two_nz, operators::lra, operators::lra_rc,
                            operators::halo, operators::allgather})
        for (const auto format : testing::formats_of(group.kind())) {
            CAPTURE(name_of(kind));
            CAPTURE(name_of(format));
            const auto a = make_operator(group, matrix, {kind, format});
            auto d = a->make_range_vector();
            a->diagonal(d);
            CHECK(values_of(d) == expected);
            CHECK(testing::copies_agree(d));
        }
}

KRYLITH_GROUP_TEST("jacobi: of the operator and of its matrix are the same") {
    const auto first = testing::random_matrix(300, 5, 3, 67);
    auto second = first;
    for (auto& v : second.values) v = 2 * v + 0.125;
    const auto r0 = random_values<double>(300, 68);
    for (const auto kind :
         {operators::nz, operators::lra_rc, operators::halo, operators::allgather}) {
        const auto a = make_operator(group, first, {.kind = kind});
        const auto applied = [&](const jacobi<double>& m) {
            execution run(group, {});
            auto r = testing::make_range_vector(a->layout(), r0);
            auto z = a->make_range_vector();
            fused(run, z = *m.pointwise(r));
            run.flush();
            CHECK(testing::copies_agree(z));
            return values_of(z);
        };
        jacobi<double> m(*a);
        CHECK(applied(m) == applied(jacobi<double>(*a, first)));
        a->update(second.values);
        m.update(*a);
        CHECK(applied(m) == applied(jacobi<double>(*a, second)));
        auto broken = first;
        for (std::int64_t k = first.row_offsets[7]; k < first.row_offsets[8]; ++k)
            broken.values[static_cast<std::size_t>(k)] = 0;
        const auto before = applied(m);
        a->update(broken.values);
        CHECK_THROWS_WITH_AS(m.update(*a), doctest::Contains("row 7"), input_error);
        CHECK(applied(m) == before);
    }
}

} // namespace krylith
