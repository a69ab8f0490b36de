// Matrices and vectors of Eigen, in every storage that it has.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <Eigen/SparseCholesky>

#include <krylith/adapters/eigen.hpp>
#include <krylith/solvers/automatic.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

namespace {

/// A matrix whose values are not symmetric, so that a transposed reading shows.
template <class Matrix>
Matrix example() {
    using T = typename Matrix::Scalar;
    using index = typename Matrix::StorageIndex;
    std::vector<Eigen::Triplet<T, index>> entries;
    for (index i = 0; i < 40; ++i) {
        entries.emplace_back(i, i, static_cast<T>(10 + i));
        if (i + 1 < 40) entries.emplace_back(i, i + 1, T(-1));
        if (i >= 3) entries.emplace_back(i, i - 3, T(-2));
    }
    Matrix m(40, 40);
    m.setFromTriplets(entries.begin(), entries.end());
    return m;
}

/// Whether both hold the same, compared place by place.
template <class T, class Matrix>
bool same(const csr_view<T>& view, const Matrix& m) {
    std::vector<T> row_values(static_cast<std::size_t>(view.columns));
    for (std::int64_t row = 0; row < view.rows; ++row) {
        std::ranges::fill(row_values, T(0));
        for (auto k = static_cast<std::size_t>(view.row_offsets[static_cast<std::size_t>(row)]);
             k < static_cast<std::size_t>(view.row_offsets[static_cast<std::size_t>(row) + 1]); ++k)
            row_values[static_cast<std::size_t>(view.column_indices[k])] += view.values[k];
        for (std::int64_t column = 0; column < view.columns; ++column)
            if (row_values[static_cast<std::size_t>(column)] !=
                m.coeff(static_cast<typename Matrix::StorageIndex>(row),
                        static_cast<typename Matrix::StorageIndex>(column)))
                return false;
    }
    return view.rows == m.rows() && view.columns == m.cols();
}

template <class Matrix>
void reads(bool copies_all) {
    auto m = example<Matrix>();
    const auto adapted = adapt_eigen(m);
    CHECK_NOTHROW(validate(adapted.view()));
    CHECK(same(adapted.view(), m));
    CHECK((adapted.view().values.data() == m.valuePtr()) == !copies_all);
    // An uncompressed matrix has room between the rows (columns), which is no part of the matrix.
    m.uncompress();
    m.coeffRef(5, 30) = 3;
    m.coeffRef(39, 0) = 4;
    REQUIRE(!m.isCompressed());
    const auto loose = adapt_eigen(m);
    CHECK_NOTHROW(validate(loose.view()));
    CHECK(same(loose.view(), m));
    CHECK(!m.isCompressed()); // the caller's matrix stays as it was
    CHECK(loose.copied_bytes() >=
          static_cast<std::size_t>(m.nonZeros()) * sizeof(typename Matrix::Scalar));
}

} // namespace

TEST_CASE("eigen: row- and column-major, compressed or not, of any index") {
    reads<Eigen::SparseMatrix<double, Eigen::RowMajor>>(false);
    reads<Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t>>(false);
    reads<Eigen::SparseMatrix<float, Eigen::RowMajor>>(false);
    reads<Eigen::SparseMatrix<double>>(true);
    reads<Eigen::SparseMatrix<float, Eigen::ColMajor, std::int64_t>>(true);
    reads<Eigen::SparseMatrix<double, Eigen::RowMajor, short>>(false);
}

TEST_CASE("eigen: a Map of a matrix is one") {
    const auto m = example<Eigen::SparseMatrix<double, Eigen::RowMajor>>();
    const Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor>> map(
        m.rows(), m.cols(), m.nonZeros(), m.outerIndexPtr(), m.innerIndexPtr(), m.valuePtr());
    const auto adapted = adapt_eigen(map);
    CHECK(same(adapted.view(), m));
    CHECK(adapted.copied_bytes() == 41 * sizeof(std::int64_t));
}

// The solution must be that of Eigen's own direct solver, before and after the values have changed.
TEST_CASE("eigen: vectors go in and out in place, and new values by update()") {
    Eigen::SparseMatrix<double, Eigen::RowMajor> m =
        example<Eigen::SparseMatrix<double, Eigen::RowMajor>>();
    m = Eigen::SparseMatrix<double, Eigen::RowMajor>(
        m + Eigen::SparseMatrix<double, Eigen::RowMajor>(m.transpose()));
    const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(40, -1, 2);
    const auto a = make_operator(device_group::host(2), adapt_eigen(m), {.kind = operators::halo});
    for (int round = 0; round < 2; ++round) {
        Eigen::VectorXd x(40);
        const auto in = borrow_host_array(a->layout(), as_span(b));
        auto out = borrow_host_array(a->layout(), as_span(x));
        REQUIRE(cg(*a, in, out, {.rtol = 1e-12}).converged());
        const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> direct(m);
        const Eigen::VectorXd expected = direct.solve(b);
        for (Eigen::Index i = 0; i < x.size(); ++i)
            CHECK(x[i] == doctest::Approx(expected[i]).epsilon(1e-10));
        m.diagonal().array() += 5;
        a->update(adapt_eigen(m).view().values);
    }
}

// The example of adapters/eigen.hpp, in both precisions: the type of the values is deduced.
template <class T>
void solves_in_place() {
    const auto general = example<Eigen::SparseMatrix<T>>();
    const Eigen::Matrix<T, Eigen::Dynamic, 1> rhs =
        Eigen::Matrix<T, Eigen::Dynamic, 1>::LinSpaced(40, 1, 2);
    Eigen::Matrix<T, Eigen::Dynamic, 1> solution(40);
    const auto group = device_group::host(1);
    const Eigen::SparseMatrix<T> twice =
        general + Eigen::SparseMatrix<T>(general.transpose()); // symmetric
    const auto solve = [&](const Eigen::SparseMatrix<T>& matrix) {
        const auto a = make_operator(group, adapt_eigen(matrix));
        const auto b = borrow_host_array(a->layout(), as_span(rhs));
        auto x = borrow_host_array(a->layout(), as_span(solution));
        const solve_result result = cg(*a, b, x); // writes into solution
        return result.converged();
    };
    CHECK(solve(twice));
    const Eigen::Matrix<T, Eigen::Dynamic, 1> image = twice * solution;
    for (Eigen::Index i = 0; i < rhs.size(); ++i)
        CHECK(image[i] == doctest::Approx(rhs[i]).epsilon(1e-3));
}

TEST_CASE("eigen: an operator is made without naming the type of the values") {
    solves_in_place<double>();
    solves_in_place<float>();
}

TEST_CASE("eigen: solve() takes a matrix and vectors of Eigen") {
    const auto m = example<Eigen::SparseMatrix<double>>();
    const Eigen::VectorXd exact = Eigen::VectorXd::LinSpaced(40, 1, 2);
    const Eigen::VectorXd b = m * exact;
    Eigen::VectorXd x(40);
    const auto group = device_group::host(2);
    CHECK(solve(group, adapt_eigen(m), as_span(b), as_span(x)).converged());
    CHECK((x - exact).norm() <= 1e-7 * exact.norm());
    x.setZero();
    CHECK(solve(*make_operator(group, adapt_eigen(m)), as_span(b), as_span(x)).converged());
    CHECK((x - exact).norm() <= 1e-7 * exact.norm());
}

} // namespace krylith
