// A finite-element program of MFEM whose linear solves are krylith's: Poisson on the unit square,
// then with another coefficient on the same mesh.
//
//     example_mfem_poisson [ELEMENTS_AN_AXIS [ORDER [DEVICES]]]
//
// -div(k grad u) = f with u = exp(x) sin(pi x) sin(pi y). Checks: the L2 error falls with order p +
// 1; the solution is that of MFEM's own CG; new values on the same pattern take the short way.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numbers>
#include <numeric>
#include <vector>

#include <mfem.hpp>

#include <krylith/adapters/mfem.hpp>
#include <krylith/device/device_group.hpp>

namespace {

constexpr double pi = std::numbers::pi;

double solution(const mfem::Vector& at) {
    return std::exp(at[0]) * std::sin(pi * at[0]) * std::sin(pi * at[1]);
}

/// The source, - Laplace u of the solution above.
double source(const mfem::Vector& at) {
    const double along_x = (2 * pi * pi - 1) * std::sin(pi * at[0]) - 2 * pi * std::cos(pi * at[0]);
    return std::exp(at[0]) * along_x * std::sin(pi * at[1]);
}

struct outcome {
    double error = 0;      ///< L2, of krylith's solution
    double difference = 0; ///< from MFEM's own, relative, largest entry
    bool converged = false;
};

/// Assembles as MFEM programs do, and solves twice.
outcome solve(krylith::mfem_solver& solver, mfem::FiniteElementSpace& space, double k) {
    mfem::Array<int> boundary;
    space.GetBoundaryTrueDofs(boundary);
    mfem::FunctionCoefficient f([k](const mfem::Vector& at) { return k * source(at); });
    mfem::ConstantCoefficient coefficient(k);
    mfem::LinearForm b(&space);
    b.AddDomainIntegrator(new mfem::DomainLFIntegrator(f));
    b.Assemble();
    mfem::BilinearForm form(&space);
    form.AddDomainIntegrator(new mfem::DiffusionIntegrator(coefficient));
    form.Assemble(0); // keeps entries that happen to be zero: the same pattern for all k
    mfem::GridFunction u(&space);
    u = 0.0;
    mfem::SparseMatrix matrix;
    mfem::Vector rhs;
    mfem::Vector x;
    form.FormLinearSystem(boundary, u, b, matrix, x, rhs);
    mfem::Vector reference(x);

    solver.SetOperator(matrix);
    solver.Mult(rhs, x);

    mfem::DSmoother jacobi(matrix);
    mfem::CGSolver own;
    own.SetRelTol(1e-12);
    own.SetMaxIter(10000);
    own.SetPreconditioner(jacobi);
    own.SetOperator(matrix);
    own.Mult(rhs, reference);
    std::printf("  %d unknowns, %d nonzeros: krylith %d iterations, %.1f ms; MFEM's CG %d\n",
                matrix.Height(), matrix.NumNonZeroElems(), solver.GetNumIterations(),
                1e3 * solver.result().solve_seconds, own.GetNumIterations());

    outcome out;
    reference -= x;
    out.difference = reference.Normlinf() / x.Normlinf();
    form.RecoverFEMSolution(x, b, u);
    mfem::FunctionCoefficient exact(solution);
    out.error = u.ComputeL2Error(exact);
    out.converged = solver.GetConverged() && own.GetConverged();
    return out;
}

bool run(const krylith::device_group& group, int elements, int order) {
    krylith::mfem_solver solver(group);
    solver.SetRelTol(1e-11);
    solver.SetMaxIter(10000);
    bool good = true;
    double coarse_error = 0;
    for (const int n : {elements / 2, elements}) {
        mfem::Mesh mesh = mfem::Mesh::MakeCartesian2D(n, n, mfem::Element::QUADRILATERAL);
        mfem::H1_FECollection collection(order, 2);
        mfem::FiniteElementSpace space(&mesh, &collection);
        const outcome first = solve(solver, space, 1);
        const int updates = solver.updates();
        const outcome second = solve(solver, space, 3.5);
        std::printf("%d x %d elements of order %d: L2 error %.3e, difference from MFEM's CG %.1e, "
                    "%.1e\n",
                    n, n, order, second.error, first.difference, second.difference);
        good = good && first.converged && second.converged && solver.updates() == updates + 1 &&
               first.difference < 1e-8 && second.difference < 1e-8 &&
               std::fabs(first.error - second.error) < 1e-4 * first.error;
        if (n == elements) {
            const double rate = std::log2(coarse_error / second.error);
            std::printf("the error falls with order %.2f (theory: %d)\n", rate, order + 1);
            good = good && rate > order + 0.9;
        }
        coarse_error = second.error;
    }
    return good;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int gpus = krylith::cuda_device_count();
        const int elements = argc > 1 ? std::atoi(argv[1]) : 40;
        const int order = argc > 2 ? std::atoi(argv[2]) : 2;
        const int devices = argc > 3 ? std::atoi(argv[3]) : std::max(1, gpus);
        if (elements < 4 || elements % 2 != 0 || order < 1 || devices < 1) {
            std::fputs("example_mfem_poisson [ELEMENTS_AN_AXIS >= 4, even [ORDER >= 1 [DEVICES >= "
                       "1]]]\n",
                       stderr);
            return 2;
        }
        std::vector<int> ordinals(static_cast<std::size_t>(devices));
        std::iota(ordinals.begin(), ordinals.end(), 0);
        const auto group =
            gpus > 0 ? krylith::device_group::cuda(ordinals) : krylith::device_group::host(devices);
        const bool good = run(group, elements, order);
        std::puts(good ? "All checks hold." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_mfem_poisson: %s\n", e.what());
        return 1;
    }
}
