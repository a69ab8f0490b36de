// A beam clamped at one end and pulled down at the other: linear elasticity on hexahedra, three
// unknowns a node, assembled element by element. Multigrid that knows the rigid motions of the beam
// needs few iterations, and hardly more on finer meshes.
//
//     example_elasticity [ELEMENTS_THROUGH_THE_BEAM [DEVICES]]
//
// A beam of 6 x 1 x 1 with E = 1000, nu = 0.3. Checks: the residual by a loop of its own; the
// deflection of the end against beam theory (Timoshenko): m elements through the beam may miss it
// by 1.5% + 60% / m^2. Trilinear elements are too stiff in bending, by an error of second order;
// the 1.5% are what beam theory leaves out (the clamp holds the section in shape).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/coo.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/precond/rigid_body_modes.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

constexpr double length = 6; // times the thickness, which is 1
constexpr double young = 1000;
constexpr double poisson_ratio = 0.3;
constexpr double lame = young * poisson_ratio / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio));
constexpr double shear = young / (2 * (1 + poisson_ratio));
constexpr double force = 1; // on the free end, downwards

/// The deflection of the end by Timoshenko's theory: bending and shear.
constexpr double beam_theory =
    force * length * length * length / (3 * young / 12) + force * length / (5.0 / 6 * shear);

/// A beam of 6 m x m x m cubes of side 1 / m. Nodes are numbered across the beam first; those at x
/// = 0 are clamped and have no unknowns.
struct mesh {
    int m;

    [[nodiscard]] int elements_along() const { return static_cast<int>(length) * m; }
    [[nodiscard]] std::int32_t unknowns() const { return 3 * elements_along() * (m + 1) * (m + 1); }
    /// The first of a node's three unknowns; negative where the node is clamped.
    [[nodiscard]] std::int32_t unknown(int i, int j, int k) const {
        return 3 * (((i - 1) * (m + 1) + j) * (m + 1) + k);
    }
};

/// The coordinates of the nodes with unknowns, in the order of these.
std::vector<double> coordinates(const mesh& beam) {
    std::vector<double> result;
    for (int i = 1; i <= beam.elements_along(); ++i)
        for (int j = 0; j <= beam.m; ++j)
            for (int k = 0; k <= beam.m; ++k)
                for (const int index : {i, j, k})
                    result.push_back(static_cast<double>(index) / beam.m);
    return result;
}

using element_matrix = std::array<std::array<double, 24>, 24>;

/// The matrix of a cube of side h: the integral of lambda div u div v + 2 mu eps(u) : eps(v), by 2
/// x 2 x 2 Gauss points. Node c is the corner with the bits of c as coordinates; its unknowns are 3
/// c + d.
element_matrix stiffness(double h) {
    element_matrix result{};
    const double gauss[] = {0.5 - std::sqrt(1.0 / 12), 0.5 + std::sqrt(1.0 / 12)};
    for (int point = 0; point < 8; ++point) {
        double gradient[8][3];
        for (int c = 0; c < 8; ++c)
            for (int d = 0; d < 3; ++d) {
                gradient[c][d] = 1 / h;
                for (int e = 0; e < 3; ++e) {
                    const double at = gauss[point >> e & 1];
                    const bool far = (c >> e & 1) != 0;
                    gradient[c][d] *= e == d ? (far ? 1 : -1) : (far ? at : 1 - at);
                }
            }
        for (std::size_t r = 0; r < 24; ++r)
            for (std::size_t s = 0; s < 24; ++s) {
                const double* a = gradient[r / 3];
                const double* b = gradient[s / 3];
                const std::size_t i = r % 3;
                const std::size_t j = s % 3;
                double sum = lame * a[i] * b[j] + shear * a[j] * b[i];
                if (i == j) sum += shear * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
                result[r][s] += sum * h * h * h / 8;
            }
    }
    return result;
}

/// Assembles: every element adds its 24 x 24 numbers; to_csr() sums what falls on the same place.
csr_matrix<double> assemble(const mesh& beam) {
    const element_matrix local = stiffness(1.0 / beam.m);
    coo_matrix<double> entries;
    entries.rows = entries.columns = beam.unknowns();
    for (int i = 0; i < beam.elements_along(); ++i)
        for (int j = 0; j < beam.m; ++j)
            for (int k = 0; k < beam.m; ++k) {
                std::array<std::int32_t, 24> unknowns{};
                for (int c = 0; c < 8; ++c)
                    for (int d = 0; d < 3; ++d)
                        unknowns[static_cast<std::size_t>(3 * c + d)] =
                            beam.unknown(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2 & 1)) + d;
                for (std::size_t r = 0; r < 24; ++r)
                    for (std::size_t s = 0; s < 24; ++s) {
                        if (unknowns[r] < 0 || unknowns[s] < 0) continue; // clamped
                        entries.row_indices.push_back(unknowns[r]);
                        entries.column_indices.push_back(unknowns[s]);
                        entries.values.push_back(local[r][s]);
                    }
            }
    return to_csr(entries);
}

/// The force, spread evenly over the end face: each corner of a square gets a quarter of its force.
std::vector<double> load(const mesh& beam) {
    std::vector<double> f(static_cast<std::size_t>(beam.unknowns()), 0.0);
    for (int j = 0; j < beam.m; ++j)
        for (int k = 0; k < beam.m; ++k)
            for (int c = 0; c < 4; ++c) {
                const auto node = beam.unknown(beam.elements_along(), j + (c & 1), k + (c >> 1));
                f[static_cast<std::size_t>(node + 2)] -= force / (4.0 * beam.m * beam.m);
            }
    return f;
}

/// Returns ||b - A x|| / ||b||.
double residual(const csr_matrix<double>& a, const std::vector<double>& x,
                const std::vector<double>& b) {
    double rr = 0;
    double bb = 0;
    for (std::size_t row = 0; row < b.size(); ++row) {
        double r = b[row];
        for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
             k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k)
            r -= a.values[k] * x[static_cast<std::size_t>(a.column_indices[k])];
        rr += r * r;
        bb += b[row] * b[row];
    }
    return std::sqrt(rr / bb);
}

/// The deflection of the middle of the end face; NaN if the solution is wrong.
double deflection(const device_group& group, int m) {
    const mesh beam{m};
    const auto matrix = assemble(beam);
    const std::vector<double> rhs = load(beam);
    const auto a = make_operator(group, matrix, {.block_size = 3});
    const std::vector<double> modes = rigid_body_modes(coordinates(beam), 3);
    const amg<double> multigrid(*a, matrix, {.block_size = 3, .near_null = modes});
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    b.upload(rhs);
    const solve_result simple = cg(*a, b, x, {.rtol = 1e-8}, jacobi<double>(*a));
    const solve_result result = cg(*a, b, x, {.rtol = 1e-8}, multigrid);
    std::vector<double> u(rhs.size());
    x.download(u);
    const double end =
        -u[static_cast<std::size_t>(beam.unknown(beam.elements_along(), m / 2, m / 2) + 2)];
    const double remaining = residual(matrix, u, rhs);
    std::printf("%8d  %8d  %9lld  %6d  %3d  %7.3f s  %.2e  %.6f  %5.1f%%\n", m, beam.unknowns(),
                static_cast<long long>(matrix.nnz()), static_cast<int>(simple.iterations),
                static_cast<int>(result.iterations), result.solve_seconds, remaining, end,
                100 * (end / beam_theory - 1));
    const bool good = result.converged() && remaining <= 1.01e-8 && result.iterations <= 25;
    return good ? end : NAN;
}

bool run(const device_group& group, int most) {
    std::printf("%d %s devices; deflection by beam theory %.6f\n", group.size(),
                to_string(group.kind()), beam_theory);
    std::puts("                               iterations");
    std::puts("elements  unknowns   nonzeros  jacobi  amg   time amg  residual  deflection  error");
    double before = NAN;
    bool good = true;
    for (int m = 2; m <= most; m *= 2) {
        const double error = std::fabs(deflection(group, m) / beam_theory - 1);
        good = good && error <= 0.015 + 0.6 / (m * m) && (m == 2 || error < before);
        before = error;
    }
    return good;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int gpus = cuda_device_count();
        const int most = argc > 1 ? std::atoi(argv[1]) : 8;
        const int devices = argc > 2 ? std::atoi(argv[2]) : std::max(1, gpus);
        if (most < 2 || devices < 1) {
            std::fputs("example_elasticity [ELEMENTS_THROUGH_THE_BEAM >= 2 [DEVICES >= 1]]\n",
                       stderr);
            return 2;
        }
        std::vector<int> ordinals(static_cast<std::size_t>(devices));
        std::iota(ordinals.begin(), ordinals.end(), 0);
        const auto group = gpus > 0 ? device_group::cuda(ordinals) : device_group::host(devices);
        const bool good = run(group, most);
        std::puts(good ? "The beam bends as theory says." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_elasticity: %s\n", e.what());
        return 1;
    }
}
