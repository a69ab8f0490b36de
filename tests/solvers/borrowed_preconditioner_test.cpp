// A user's preconditioner that writes z through a borrowed vector, by an operator of its own, and
// leaves the rest to finish_apply(). Where the solver multiplies z, its ghosts must be those of
// what was written.
#include <vector>

#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::describe;
using testing::general_methods;
using testing::name_of;
using testing::problem;

namespace {

/// Two steps of Jacobi's iteration as one matrix: M^-1 = 2 D^-1 - D^-1 A D^-1.
csr_matrix<double> two_jacobi_steps(csr_matrix<double> a) {
    std::vector<double> d(static_cast<std::size_t>(a.rows));
    const auto each = [&](const auto& visit) {
        for (std::int64_t i = 0; i < a.rows; ++i)
            for (std::int64_t k = a.row_offsets[static_cast<std::size_t>(i)];
                 k < a.row_offsets[static_cast<std::size_t>(i) + 1]; ++k)
                visit(static_cast<std::size_t>(i),
                      static_cast<std::size_t>(a.column_indices[static_cast<std::size_t>(k)]),
                      a.values[static_cast<std::size_t>(k)]);
    };
    each([&](std::size_t i, std::size_t j, double& v) {
        if (i == j) d[i] = v;
    });
    each([&](std::size_t i, std::size_t j, double& v) {
        v = (i == j ? 2 / d[i] : 0) - v / (d[i] * d[j]);
    });
    return a;
}

/// A preconditioner whose vectors have another layout than the solver's, and no ghosts of z.
class borrowing {
public:
    explicit borrowing(const device_group& group, const csr_matrix<double>& inverse)
        : inverse_(make_operator(group, inverse, {.kind = operators::halo})),
          domain_(inverse_->make_domain_vector()) {}

    void apply(execution& run, const vector<double>& r, vector<double>& z,
               std::span<const reduction_into<double>> dots) const {
        const auto borrow = [&](const vector<double>& v) {
            std::vector<double*> parts;
            for (int rank = 0; rank < run.ranks(); ++rank) parts.push_back(v.data(rank));
            return vector<double>::borrow(inverse_->layout(), std::span<double* const>(parts));
        };
        const auto from = borrow(r);
        auto to = borrow(z);
        fused(run, domain_ = from);
        inverse_->apply(run, 1, domain_, 0, to);
        finish_apply(run, z, dots);
    }
    [[nodiscard]] bool recordable() const { return inverse_->recordable(); }
    [[nodiscard]] std::int64_t bytes() const { return inverse_->matrix_bytes(0); }
    [[nodiscard]] std::string name() const { return "borrowing"; }

private:
    std::unique_ptr<matrix_operator<double>> inverse_;
    mutable vector<double> domain_;
};

} // namespace

KRYLITH_GROUP_TEST("borrowed preconditioner: as many iterations as on one device") {
    const auto matrix = convection_diffusion<double>(8, 10);
    const auto b = testing::random_values<double>(matrix.rows, 193);
    const auto inverse = two_jacobi_steps(matrix);
    const auto one = device_group::host(1);
    problem<double> alone(one, matrix, b);
    const borrowing m_alone(one, inverse);
    const borrowing m(group, inverse);
    for (const auto which : general_methods)
        for (const auto at : {side::left, side::right}) {
            CAPTURE(name_of(which));
            solver_options options{.restart = 200, .preconditioning = at};
            const auto expected =
                testing::solve(which, *alone.a, alone.b, alone.x, options, m_alone);
            REQUIRE(expected.converged());
            for (const auto kind : {operators::halo, operators::allgather})
                for (const auto mode : {execution_mode::automatic, execution_mode::eager}) {
                    options.mode = mode;
                    problem<double> p(group, matrix, b, {.kind = kind});
                    const auto result = testing::solve(which, *p.a, p.b, p.x, options, m);
                    INFO(describe(result));
                    CHECK(result.converged());
                    CHECK(result.iterations <= expected.iterations + 3);
                    CHECK(p.relative_residual() <= 1.01e-8);
                }
        }
}

} // namespace krylith
