// What every preconditioner makes of the matrix that it is given: entries at one place add up,
// another pattern is refused by those that keep one, and any scale is taken. Vectors of another
// operator, and calls after a move, are refused.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/block_jacobi.hpp>
#include <krylith/precond/chebyshev.hpp>
#include <krylith/precond/constant_null_space.hpp>
#include <krylith/precond/equilibration.hpp>
#include <krylith/precond/fsai.hpp>
#include <krylith/precond/gauss_seidel.hpp>
#include <krylith/precond/ic0.hpp>
#include <krylith/precond/ilu0.hpp>
#include <krylith/precond/ilut.hpp>
#include <krylith/precond/own_preconditioner.hpp>
#include <krylith/precond/spai.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>

#include <krylith/tests/precond/applied.hpp>
#include <krylith/tests/precond/device_parts.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::applied;
using testing::device_parts;
using testing::problem;
using testing::random_values;
using testing::same_bits;

namespace {

/// Every row as usual, and what takes its matrix by other ways.
std::vector<std::string> all_texts() {
    std::vector<std::string> texts = {
        "amg:kind=unsymmetric", "amg:precision=fp64", "block-jacobi:block_size=4",
        "chebyshev:degree=3",   "fsai:power=2",       "gauss-seidel:sweep=forward",
        "ilu0:order=colours",   "ilut:matching=on",   "spai:power=2",
        "ilu0:overlap=1"};
    for (const preconditioner_method* row : all_preconditioners) texts.emplace_back(row->name);
    return texts;
}

/// Whether update() takes any matrix of the same size.
bool takes_other_patterns(const std::string& text) {
    return std::ranges::any_of(
        std::vector<std::string>{"ilu0", "ic0", "ilut", "jacobi", "equilibration"},
        [&](const std::string& name) { return text.starts_with(name); });
}

/// Diagonally dominant, of whole numbers, whose sums are exact.
csr_matrix<double> whole_numbers() {
    csr_matrix<double> a = poisson2d<double>(14, 13);
    for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row)
        for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
             k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k)
            a.values[k] = a.values[k] > 0 ? static_cast<double>(280 + row % 7) : -64;
    return a;
}

/// The same matrix with its entries in descending order, each in two parts that cancel all but it.
csr_matrix<double> in_parts(const csr_matrix<double>& a) {
    csr_matrix<double> parts{a.rows, a.columns, {0}, {}, {}};
    for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row) {
        for (const double share : {16.0, -15.0})
            for (auto k = static_cast<std::size_t>(a.row_offsets[row + 1]);
                 k-- > static_cast<std::size_t>(a.row_offsets[row]);) {
                parts.column_indices.push_back(a.column_indices[k]);
                parts.values.push_back(share * a.values[k]);
            }
        parts.row_offsets.push_back(static_cast<std::int64_t>(parts.values.size()));
    }
    return parts;
}

/// Patterns of as many entries as that of `a`, and one of fewer; all have a dominant diagonal.
std::vector<csr_matrix<double>> other_patterns(const csr_matrix<double>& a) {
    const std::int64_t n = a.rows;
    testing::triplets moved; // rows as long as before, with columns elsewhere
    testing::triplets longer;
    testing::triplets fewer;
    testing::triplets swapped;
    for (std::int64_t row = 0; row < n; ++row) {
        const auto begin = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row)]);
        const auto end = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row) + 1]);
        moved.emplace_back(row, row, 300);
        for (std::size_t k = begin + 1; k < end; ++k)
            moved.emplace_back(row, (row + n / 2 + static_cast<std::int64_t>(k - begin)) % n, -1);
        for (std::size_t k = begin; k < end; ++k) {
            const std::int64_t column = a.column_indices[k];
            const bool last = row == n - 1 && k + 1 == end - 1; // an entry beside the diagonal
            longer.emplace_back(last ? 0 : row, last ? n - 1 : column, a.values[k]);
            if (!last) fewer.emplace_back(row, column, a.values[k]);
            const bool one = row == n / 2 && column == row + 1; // alone among all
            swapped.emplace_back(row, one ? row + 3 : column, a.values[k]);
        }
    }
    std::vector<csr_matrix<double>> all;
    for (const auto& entries : {moved, longer, fewer, swapped})
        all.push_back(testing::from_triplets(n, entries));
    for (std::size_t k = 0; k < all.size(); ++k) CHECK((all[k].nnz() == a.nnz()) == (k != 2));
    return all;
}

template <class T>
csr_matrix<T> times_power_of_two(csr_matrix<T> a, int exponent) {
    for (T& v : a.values) v = std::ldexp(v, exponent);
    return a;
}

/// Solves with A of the usual size, and of others by powers of two.
template <class T>
void takes_any_scale(const device_group& group, std::initializer_list<int> exponents) {
    const auto matrix = testing::converted<T>(poisson2d<double>(9, 8, random_scaling{2}));
    for (const std::string& text : all_texts()) {
        if (sizeof(T) == 4 && text == "amg:precision=fp64") continue;
        for (const auto which : {testing::method::cg, testing::method::gmres}) {
            CAPTURE(text);
            CAPTURE(testing::name_of(which));
            std::int64_t usual = -1;
            for (const int exponent : exponents) {
                CAPTURE(exponent);
                const auto scaled = times_power_of_two(matrix, exponent);
                problem<T> p(group, scaled, random_values<T>(matrix.rows, 502));
                const auto m = make_preconditioner(text, *p.a, csr_view<T>(scaled));
                if (which.row->needs_symmetric && !m.symmetric()) continue;
                const auto result = testing::solve(which, *p.a, p.b, p.x, {}, m);
                INFO(testing::describe(result));
                CHECK(result.converged());
                if (usual < 0) usual = result.iterations;
                CHECK(std::abs(result.iterations - usual) <= 1);
            }
        }
    }
}

/// Everything that a moved object has must throw, not read what it no longer has.
template <class M>
void refuses_after_move(const matrix_operator<double>& a, const csr_matrix<double>& matrix, M m) {
    CAPTURE(std::string(m.name()));
    auto r = a.make_range_vector();
    auto z = a.make_range_vector();
    execution run(a.comm(), {});
    const M taken = std::move(m);
    taken.apply(run, r, z, {});
    run.flush();
    a.comm().synchronize(); // devices tell each other that they have read what M is about to free
    CHECK_THROWS_AS(m.apply(run, r, z, {}), usage_error); // NOLINT: moved from
    if constexpr (requires { m.update(csr_view<double>(matrix)); })
        CHECK_THROWS_AS(m.update(csr_view<double>(matrix)), usage_error);
    if constexpr (requires { m.update(a); }) CHECK_THROWS_AS(m.update(a), usage_error);
    if constexpr (requires { m.pointwise(r); }) CHECK_THROWS_AS((void)m.pointwise(r), usage_error);
    if constexpr (requires { m.square_root(); })
        CHECK_THROWS_AS((void)m.square_root(), usage_error);
    if constexpr (requires { m.levels(); }) CHECK_THROWS_AS((void)m.levels(), usage_error);
    if constexpr (!std::same_as<M, own_preconditioner<double>>)
        CHECK_THROWS_AS((void)m.bytes(), usage_error);
}

} // namespace

KRYLITH_GROUP_TEST("every preconditioner: entries at one place add up, in any order") {
    const auto matrix = whole_numbers();
    const auto parts = in_parts(matrix);
    const auto r = random_values<double>(matrix.rows, 500);
    for (const auto kind : {operators::halo, operators::nz}) {
        const auto a = make_operator(group, matrix, {.kind = kind});
        for (const std::string& text : all_texts()) {
            CAPTURE(testing::name_of(kind));
            CAPTURE(text);
            auto m = make_preconditioner(text, *a, csr_view<double>(matrix));
            const auto expected = applied(*a, m, r);
            const auto same = make_preconditioner(text, *a, csr_view<double>(parts));
            CHECK(same_bits(applied(*a, same, r), expected));
            m.update(csr_view<double>(parts));
            CHECK(same_bits(applied(*a, m, r), expected));
        }
    }
}

KRYLITH_GROUP_TEST(
    "every preconditioner: an update by another pattern is refused where it is kept") {
    const auto matrix = whole_numbers();
    const auto r = random_values<double>(matrix.rows, 501);
    for (const auto kind : {operators::halo, operators::nz}) {
        const auto a = make_operator(group, matrix, {.kind = kind});
        for (const std::string& text : all_texts()) {
            if (takes_other_patterns(text)) continue;
            CAPTURE(testing::name_of(kind));
            CAPTURE(text);
            auto m = make_preconditioner(text, *a, csr_view<double>(matrix));
            const auto before = applied(*a, m, r);
            for (const auto& other : other_patterns(matrix)) {
                const char* const why =
                    other.nnz() == matrix.nnz() ? "are at other places" : "entries, must be";
                CHECK_THROWS_WITH_AS(m.update(csr_view<double>(other)), doctest::Contains(why),
                                     usage_error);
                const device_parts<double> there(group, other, a->layout()->rows);
                CHECK_THROWS_WITH_AS(m.update(there.parts()), doctest::Contains(why), usage_error);
                CHECK(same_bits(applied(*a, m, r), before));
            }
        }
    }
}

KRYLITH_GROUP_TEST("every preconditioner: it doesn't matter where the matrix lies") {
    const auto matrix = whole_numbers();
    auto other = matrix;
    for (double& v : other.values) v *= v > 0 ? 1.5 : 0.75;
    const auto r = random_values<double>(matrix.rows, 503);
    for (const auto kind : {operators::halo, operators::nz}) {
        const auto a = make_operator(group, matrix, {.kind = kind});
        const row_partition& rows = a->layout()->rows;
        const device_parts<double> parts(group, in_parts(matrix), rows);
        const distributed_csr<double> whole(group, csr_view<double>(matrix), rows, rows);
        const device_parts<double> other_parts(group, other, rows);
        const distributed_csr<double> other_whole(group, csr_view<double>(other), rows, rows);
        for (const std::string& text : all_texts()) {
            CAPTURE(testing::name_of(kind));
            CAPTURE(text);
            auto of_host = make_preconditioner(text, *a, matrix);
            auto of_parts = make_preconditioner(text, *a, parts.parts());
            auto of_whole = make_preconditioner(text, *a, whole);
            const auto expected = applied(*a, of_host, r);
            CHECK(same_bits(applied(*a, of_parts, r), expected));
            CHECK(same_bits(applied(*a, of_whole, r), expected));
            of_host.update(other);
            of_parts.update(other_whole);
            of_whole.update(other_parts.parts());
            const auto updated = applied(*a, of_host, r);
            CHECK_FALSE(same_bits(updated, expected));
            CHECK(same_bits(applied(*a, of_parts, r), updated));
            CHECK(same_bits(applied(*a, of_whole, r), updated));
        }
        CHECK(whole.download() == matrix); // nothing has written into it
    }
}

KRYLITH_GROUP_TEST("every preconditioner: what lies on the devices otherwise is refused") {
    const auto matrix = whole_numbers();
    const auto a = make_operator(group, matrix, {.kind = operators::halo});
    const auto ordered =
        make_operator(group, matrix, {.kind = operators::halo, .order = orders::rcm});
    const row_partition& rows = a->layout()->rows;
    const device_parts<double> parts(group, matrix, rows);
    const auto few = device_group::host(1);
    const distributed_csr<double> elsewhere(few, csr_view<double>(matrix),
                                            equal_rows(matrix.rows, 1), equal_rows(matrix.rows, 1));
    for (const std::string& text : all_texts()) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS((void)make_preconditioner(text, *ordered, parts.parts()),
                             doctest::Contains("in an order of its own"), usage_error);
        CHECK_THROWS_WITH_AS((void)make_preconditioner(text, *a, elsewhere),
                             doctest::Contains("another group of devices"), usage_error);
    }
}

KRYLITH_GROUP_TEST("every preconditioner: A from 2^-930 to 2^930 has the same iterations") {
    takes_any_scale<double>(group, {0, -930, -830, -500, 500, 830, 930});
    takes_any_scale<float>(group, {0, -100, -50, 50, 100});
}

KRYLITH_GROUP_TEST("every preconditioner: vectors of another operator are refused") {
    const auto matrix = whole_numbers();
    const auto plain = make_operator(group, matrix, {.kind = operators::halo});
    const auto ordered =
        make_operator(group, matrix, {.kind = operators::halo, .order = orders::rcm});
    auto r = plain->make_range_vector();
    auto z = plain->make_range_vector();
    for (const std::string& text : all_texts()) {
        CAPTURE(text);
        const auto m = make_preconditioner(text, *ordered, csr_view<double>(matrix));
        execution run(group, {});
        CHECK_THROWS_AS(m.apply(run, r, z), usage_error);
    }
}

KRYLITH_GROUP_TEST("every preconditioner: calls after a move are refused") {
    const auto matrix = whole_numbers();
    const auto a = make_operator(group, matrix, {.kind = operators::halo});
    for (const std::string& text : all_texts())
        refuses_after_move(*a, matrix, make_preconditioner(text, *a, csr_view<double>(matrix)));
    refuses_after_move(*a, matrix, jacobi<double>(*a));
    refuses_after_move(*a, matrix, amg<double>(*a, matrix));
    refuses_after_move(*a, matrix, block_jacobi<double>(*a, matrix));
    refuses_after_move(*a, matrix, chebyshev<double>(*a, csr_view<double>(matrix)));
    refuses_after_move(*a, matrix, equilibration<double>(*a, matrix));
    refuses_after_move(*a, matrix, fsai<double>(*a, matrix));
    refuses_after_move(*a, matrix, gauss_seidel<double>(*a, matrix));
    refuses_after_move(*a, matrix, ic0<double>(*a, matrix));
    refuses_after_move(*a, matrix, ilu0<double>(*a, matrix));
    refuses_after_move(*a, matrix, ilut<double>(*a, csr_view<double>(matrix)));
    refuses_after_move(*a, matrix, spai<double>(*a, matrix));
    refuses_after_move(*a, matrix,
                       make_preconditioner<double>(*a, [](const preconditioner_call<double>&) {}));
    refuses_after_move(*a, matrix, constant_null_space<double>(*a).project(jacobi<double>(*a)));
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    auto m = make_preconditioner("amg", *a, csr_view<double>(matrix));
    const auto taken = std::move(m);
    CHECK_THROWS_AS((void)gmres(*a, b, x, {}, m), usage_error); // NOLINT: moved from
    CHECK(gmres(*a, b, x, {}, taken).converged());
}

} // namespace krylith
