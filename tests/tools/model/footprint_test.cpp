// Bytes worked out beforehand against those that devices then hold.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tools/model/models.hpp>

namespace krylith::tool {

namespace {

const std::vector<int> counts = {1, 2, 3};

/// Of the device that has most.
std::int64_t most(const std::vector<std::map<std::string, std::size_t>>& bytes,
                  const std::vector<std::string>& items) {
    std::int64_t result = 0;
    for (const auto& device : bytes) {
        std::int64_t sum = 0;
        for (const auto& item : items)
            if (device.contains(item)) sum += static_cast<std::int64_t>(device.at(item));
        result = std::max(result, sum);
    }
    return result;
}

} // namespace

TEST_CASE("matrix bytes and ghosts are those of the operator that is built") {
    for (const auto& a : {poisson2d<double>(40), random_spd<double>(2000, 9, 3),
                          krylith::testing::random_matrix(70, 5, 1, 2)})
        for (const footprint& f : footprints(csr_view<double>(a), counts)) {
            const auto built = make_operator(device_group::host(f.devices), a,
                                             {.kind = f.kind, .format = formats::csr});
            std::int64_t matrix = 0;
            std::int64_t received = 0;
            std::int64_t moved = 0;
            for (int rank = 0; rank < f.devices; ++rank) {
                matrix = std::max(matrix, built->matrix_bytes(rank));
                received = std::max(received, built->received(rank));
                moved += built->received(rank);
            }
            CHECK(f.matrix_bytes(formats::csr) == matrix);
            CHECK(f.received == received);
            CHECK(f.moved == moved);
            if (f.devices == 1) continue;
            const auto automatic = make_operator(device_group::host(f.devices), a);
            CHECK(f.automatic == (automatic->kind() == f.kind));
        }
}

TEST_CASE("vector bytes are those that a solve holds") {
    const auto a = poisson2d<double>(40);
    for (const footprint& f : footprints(csr_view<double>(a), counts))
        for (const solver_method* solver : all_solvers)
            for (const std::string_view precond : preconditioner_names()) {
                const auto* row = parse_preconditioner(precond).method;
                const bool keeps_a_matrix = row != nullptr && !row->pointwise;
                const auto modelled = [&] {
                    const preconditioner_size size{f.held, a.nnz(), f.value_bytes};
                    const method_parameters usual{row->parameters.get()};
                    return row->kept_bytes.get()(size, usual).has_value();
                };
                if (solver->least_squares && row != nullptr) continue;
                if (!solver->runs_everywhere || (row != nullptr && !modelled())) continue;
                const auto built =
                    make_operator(device_group::host(f.devices), a,
                                  {.kind = f.kind, .transposed_products = solver->least_squares});
                const auto m = make_preconditioner(precond, *built, csr_view<double>(a));
                auto b = built->make_range_vector("b");
                auto x = built->make_range_vector("x");
                b.upload(std::vector<double>(1600, 1));
                const auto result = solver->solve(*built, b, x, {.max_iterations = 3}, m);
                const method asked{solver->name, precond, 30, 30};
                const std::int64_t held =
                    most(result.bytes, {"b", "x", "vectors", "preconditioner"});
                CAPTURE(std::string(solver->name));
                CAPTURE(std::string(precond));
                CAPTURE(f.devices);
                // The model counts the matrix of a preconditioner, too; the ledger has it by
                // itself.
                if (!keeps_a_matrix) CHECK(f.vector_bytes(asked) <= held);
                // gmres: pointers to its basis, fgmres: to two of them
                const std::int64_t pointers =
                    solver == &solver_rows::fgmres ? 3 * 31 * 8 : 2 * 31 * 8;
                // Ghosts below begin up to 120 bytes behind the start of a vector, so that owned
                // entries begin at a multiple of 128.
                const std::int64_t padding = f.devices > 1 ? pointers / 8 * 120 : 0;
                CHECK(held <= f.vector_bytes(asked) + pointers + padding);
            }
}

TEST_CASE("SELL is taken up to a tenth of padding") {
    const auto even = footprints(csr_view<double>(poisson2d<double>(64)), std::vector<int>{1});
    CHECK(even.front().cuda_format == formats::sell);
    CHECK(even.front().sell_padding < 0.1);
    // A stencil's columns need not be stored.
    CHECK(even.front().matrix_bytes(formats::sell) >= 8 * poisson2d<double>(64).nnz());
    CHECK(even.front().matrix_bytes(formats::sell) < 9 * poisson2d<double>(64).nnz());
    std::vector<std::vector<double>> arrow(64, std::vector<double>(64, 0));
    for (std::size_t i = 0; i < 64; ++i) arrow[0][i] = arrow[i][i] = 1;
    const auto uneven =
        footprints(csr_view<double>(krylith::testing::from_dense(arrow)), std::vector<int>{1});
    CHECK(uneven.front().cuda_format == formats::csr);
    CHECK(uneven.front().matrix_bytes(formats::sell) >
          2 * uneven.front().matrix_bytes(formats::csr));
}

TEST_CASE("an iteration's bytes on one device are those of the byte model, but for the offsets") {
    const auto a = random_spd<double>(3000, 9, 1);
    footprint f = footprints(csr_view<double>(a), std::vector<int>{1}).front();
    CHECK(f.matrix_bytes(formats::sell) <
          f.matrix_bytes(formats::csr)); // 16 bits a column are enough here
    f.matrix_bytes(formats::sell) = f.matrix_bytes(formats::csr); // the model is of CSR
    const traffic model{a.rows, a.nnz(), 8};
    for (const solver_method* solver : all_solvers) {
        const method m{solver->name, "none", 30, 30};
        CHECK(f.iteration_bytes(m) == doctest::Approx(*model.iteration(m)).epsilon(0.02));
    }
}

TEST_CASE("[cuda] matrix bytes of every format are those that the GPU holds") {
    // Values that differ: slices of equal ones take less (sparse/sell/uniform_slices.cuh).
    for (const auto& a :
         {make_gallery<double>("poisson2d:200:random=1"), random_spd<double>(20000, 9, 3)})
        for (const footprint& f : footprints(csr_view<double>(a), std::vector<int>{1, 2})) {
            const std::vector<int> places(static_cast<std::size_t>(f.devices), 0);
            const auto bytes = [&](format_kind format) {
                const auto built = make_operator(device_group::cuda(places), a,
                                                 {.kind = f.kind, .format = format});
                std::int64_t matrix = 0;
                for (int rank = 0; rank < f.devices; ++rank)
                    matrix = std::max(matrix, built->matrix_bytes(rank));
                return matrix;
            };
            CAPTURE(f.devices);
            for (const format_kind format : formats::all) {
                CAPTURE(to_string(format));
                CHECK(f.matrix_bytes(format) == bytes(format));
            }
        }
}

} // namespace krylith::tool
