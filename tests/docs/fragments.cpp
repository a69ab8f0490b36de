// Pieces of code that the pages and comments of headers show and that run nowhere: they must
// compile.
#include <cstdio>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include <krylith/adapters/csr_arrays.hpp>
#include <krylith/adapters/split_csr.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/distributed/local_files.hpp>
#include <krylith/graph/connected_components.hpp>
#include <krylith/graph/triangle_count.hpp>
#include <krylith/matrix/coo_assembly.hpp>
#include <krylith/partition/pcsr.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/precond/own_preconditioner.hpp>
#include <krylith/precond/rigid_body_modes.hpp>
#include <krylith/solvers/automatic.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/sparse/transpose.hpp>
#include <krylith/sparse/triangular_solver.hpp>
#include <krylith/spmv/column_operator.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/spmv/streamed_product.hpp>
#include <krylith/vector/fused.hpp>

using namespace krylith;

/// Returns seconds.
double multiply_once(const device_group& group, const csr_matrix<double>& a,
                     const std::vector<double>& x, std::vector<double>& y) {
    streamed_product<double> product(group); // keeps its buffers: for more calls
    const streamed_times times = product(csr_view<double>(a), x, y); // y = A x
    return times.total;
}

void multiply_columns(const device_group& group, const csr_matrix<double>& matrix,
                      const std::vector<double>& values) {
    const column_operator<double> a(
        make_operator(group, matrix, {.kind = operators::halo, .format = formats::csr}), 8);
    auto x = a.make_domain_vector();
    auto y = a.make_range_vector();
    x.upload(values); // entry (i, j) is values[8 * i + j]
    execution run(group, {});
    put_ghosts(run, x);
    a.apply(run, 1, x, 0, y);
    run.flush();
}

void groups() {
    const auto cpu = device_group::host(1);                       // the CPU, all cores
    const auto gpus = device_group::cuda(std::vector<int>{0, 1}); // CUDA ordinals, in this order
    (void)cpu;
    (void)gpus;
}

/// docs/graphs.md.
std::int64_t parts_and_triangles(const device_group& group, const csr_view<double>& matrix) {
    const graph<double> g(group, matrix);
    const connected_components_result found = connected_components(g);
    const triangle_count_result counted = triangle_count(g, {.per_vertex = true});
    return found.components() + counted.triangles;
}

/// adapters/csr_arrays.hpp.
void arrays_of_another_program(const device_group& group, int rows, int columns,
                               const int* row_offsets, const int* column_indices,
                               const float* values) {
    const auto mine = adapt_csr(rows, columns, row_offsets, column_indices, values);
    const auto a = make_operator(group, mine);
    a->update(mine.view().values); // after new values were written to the same array
}

/// partition/pcsr.hpp. Adds up the rows of all ranges.
std::int64_t cut_by_entries(const std::vector<std::int64_t>& offsets) {
    std::int64_t rows = 0;
    const pcsr cut = make_pcsr(offsets, equal_entries(offsets.back(), 4));
    for (const major_range& range : cut.ranges) {
        const std::vector<std::int64_t> own = range_offsets(offsets, range);
        rows += static_cast<std::int64_t>(own.size()) - 1;
    }
    return rows;
}

/// spmv/matrix_parts.hpp.
solve_result lent_arrays(const device_group& group, std::int64_t rows, const std::int64_t* offsets,
                         const std::int32_t* columns, const double* values, const vector<double>& b,
                         vector<double>& x) {
    const csr_part<double> mine = {rows, offsets, columns, values}; // device pointers
    const auto a = make_operator<double>(group, std::span(&mine, 1), {.borrow = true});
    const solve_result result = cg(*a, b, x);
    return result;
}

/// distributed/distributed_csr.hpp.
void travels_once(const device_group& group, const csr_view<double>& arrays,
                  std::span<const double> new_values) {
    const row_partition rows = equal_rows(arrays.rows, group.size());
    distributed_csr<double> matrix(group, arrays, rows, rows);
    const auto a = make_operator(matrix);
    amg<double> m(*a, matrix);
    matrix.update(new_values); // they travel once
    a->update_on_devices(matrix.values());
    m.update(matrix);
}

/// distributed/distributed_assembly.hpp.
void assembled_there(const device_group& group, std::span<const coo_part<double>> parts,
                     const row_partition& columns, std::span<const double* const> element_values) {
    distributed_assembly<double> assembly(group, parts, columns); // coo_part, one a device
    const auto a = make_operator(assembly.matrix());
    amg<double> m(*a, assembly.matrix());
    assembly.gather(element_values); // new values: one gather on each device
    a->update_on_devices(assembly.values());
    m.update(assembly.matrix());
}

/// solvers/automatic.hpp.
solve_result chosen_method(const std::unique_ptr<matrix_operator<double>>& a,
                           const vector<double>& b, vector<double>& x) {
    const solve_result result = solve(*a, b, x);
    return result;
}

/// precond/any_preconditioner.hpp.
solve_result of_nodes(const std::unique_ptr<matrix_operator<double>>& a,
                      const csr_matrix<double>& matrix, const vector<double>& b, vector<double>& x,
                      const std::vector<double>& coordinates) {
    const std::vector<double> modes = rigid_body_modes(coordinates, 3);
    const matrix_nodes nodes{.block_size = 3, .near_null = modes};
    const solve_result result = solve(*a, matrix, b, x, {}, nodes);
    return result;
}

/// spmv/matrix_operator.hpp.
void between_grids(const std::unique_ptr<matrix_operator<double>>& coarse,
                   const std::unique_ptr<matrix_operator<double>>& fine,
                   const csr_matrix<double>& prolongation) {
    const auto p = make_operator({coarse->layout(), fine->layout()}, prolongation);
    (void)p;
}

std::unique_ptr<matrix_operator<double>> transfer(const matrix_operator<double>& coarse,
                                                  const matrix_operator<double>& fine,
                                                  const csr_matrix<double>& prolongation) {
    return make_operator({coarse.layout(), fine.layout()}, prolongation,
                         {.transposed_products = true});
}

/// y = P x, z = P' A y
void coarse_product(execution& run, const matrix_operator<double>& a,
                    const matrix_operator<double>& p, const vector<double>& x, vector<double>& y,
                    vector<double>& r, vector<double>& z) {
    p.apply(run, 1.0, x, 0.0, y); // x: p.make_domain_vector(), y: a.make_domain_vector()
    put_ghosts(run, y);           // a product does not send what others need of its result
    a.apply(run, 1.0, y, 0.0, r); // r: p.transposed().make_domain_vector()
    put_ghosts(run, r);
    p.apply_transposed(run, 1.0, r, 0.0, z); // z: p.transposed().make_range_vector()
}

/// precond/own_preconditioner.hpp.
solve_result divided(const std::unique_ptr<matrix_operator<double>>& a, const double* diagonal,
                     const vector<double>& b, vector<double>& x) {
    const auto m = make_preconditioner(*a, [&](const preconditioner_call<double>& call) {
        for (std::int64_t i = 0; i < call.rows.size(); ++i)
            call.z[i] = call.r[i] / diagonal[call.rows.begin + i];
    });
    const solve_result result = cg(*a, b, x, {.rtol = 1e-8}, m);
    return result;
}

/// matrix/coo_assembly.hpp.
void assembled_again(const coo_assembly& assembly, matrix_operator<double>* a,
                     const std::vector<double>& element_values, std::vector<double>& csr_values) {
    assembly.gather<double>(element_values, csr_values);
    a->update(csr_values);
}

/// vector/fused.hpp.
void conjugate_gradients(execution& run, vector<double>& x, vector<double>& r, vector<double>& p,
                         vector<double>& q) {
    const scalar alpha(run), beta(run);
    scalar rr(run);
    fused(run, r -= alpha * q, rr = dot(r, r));
    fused(run, x += alpha * p, p = r + beta * p);
}

/// docs/concepts.md.
solve_result watched(const std::unique_ptr<matrix_operator<double>>& a, const vector<double>& b,
                     vector<double>& x, const std::stop_source& source) {
    const auto result =
        cg(*a, b, x,
           {.callback =
                [&](const progress& now) {
                    std::printf("%lld %.1e\n", static_cast<long long>(now.iteration), now.residual);
                    return now.residual > 1e3 * now.rhs_norm ? next_step::stop : next_step::go;
                },
            .callback_interval = 10,
            .stop = source.get_token(),
            .max_seconds = 60});
    return result;
}

/// sparse/triangular_solver.hpp.
void triangular_solves(const device_csr<double>& lu, const double* r, double* z) {
    triangular_solver<double> lower(
        lu, {.part = triangle_part::lower, .diagonal = triangle_diagonal::unit});
    triangular_solver<double> upper(lu, {.part = triangle_part::upper});
    lower.solve(r, z);
    upper.solve(z, z);
}

/// sparse/transpose.hpp.
device_csr<double> restriction(const device_csr<double>& p) {
    transposition order(p);
    device_csr<double> r = order.take(p); // R = P^T
    order.apply(p, r);                    // after new values of p
    return r;
}

/// distributed/local_files.hpp, docs/several_processes.md.
solve_result solved_from_files(const communicator& comm) {
    const own_rows<double> mine = load_rows<double>(comm, "mine.kcsr");
    const distributed_csr<double> matrix(comm, mine.parts(comm), mine.columns);
    const auto a = make_operator(matrix);
    auto b = a->make_range_vector();
    auto x = a->make_domain_vector();
    b.upload_local(load_local_vector<double>(comm, "b.npy", mine.rows));
    const solve_result result = cg(*a, b, x);
    std::vector<double> found(static_cast<std::size_t>(x.local_rows().size()));
    x.download_local(found);
    save_local_vector<double>(comm, "x.npy", mine.columns, found);
    return result;
}

/// adapters/split_csr.hpp.
void split_rows(const communicator& comm, std::size_t rank, std::vector<csr_part<double>>& parts,
                std::int64_t rows, row_range owned, const row_partition& columns, const int* di,
                const int* dj, const double* da, const int* oi, const int* oj, const double* oa,
                const std::vector<int>& global_columns, std::span<const double> new_diag,
                std::span<const double> new_offd) {
    const std::span<const int> map(global_columns); // of the columns of the other block
    split_csr<double> mine(rows, owned, csr_block{di, dj, da}, csr_block{oi, oj, oa}, map);
    parts[rank] = mine.part();
    distributed_csr<double> matrix(comm, parts, columns);
    const auto a = make_operator(matrix);
    mine.update(new_diag, new_offd);
    matrix.update_local(mine.values());
    a->update_on_devices(matrix.values());
}
