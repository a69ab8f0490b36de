// Rigid body modes from --coordinates, and from the gallery.
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/load.hpp>

#include <krylith/tests/tools/support/command_run.hpp>

using krylith::test::contents_of;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;
using nlohmann::json;

namespace {

/// The iterations of a solve of the matrix with amg, which finds nodes of 3 rows or is told of
/// them.
int iterations(const temporary_folder& folder, const std::string& arguments) {
    const auto result = run_krylith(folder, "solve " + arguments +
                                                " --rhs random:1 --solver cg --precond amg "
                                                "--backend host --report out.json");
    REQUIRE_MESSAGE(result.status == 0, result.err);
    CHECK_MESSAGE(result.out.find(":block_size=3") != std::string::npos, result.out);
    return json::parse(contents_of(folder.file("out.json"))).at("iterations").get<int>();
}

/// Writes the coordinates of a beam as an array of nodes x 3.
void write_coordinates(const std::string& path, const krylith::node_coordinates& nodes) {
    std::ofstream file(path);
    const std::size_t count = nodes.values.size() / 3;
    file << "%%MatrixMarket matrix array real general\n" << count << " 3\n";
    for (std::size_t axis = 0; axis < 3; ++axis) // by columns
        for (std::size_t node = 0; node < count; ++node)
            file << nodes.values[3 * node + axis] << '\n';
}

} // namespace

TEST_CASE("solve: amg takes rigid body modes from the gallery and from files") {
    const temporary_folder folder;
    const int with = iterations(folder, "gallery:elasticity3d:12:4:4 --devices 1");
    CHECK(with <= 15);
    CHECK(iterations(folder, "gallery:elasticity3d:12:4:4 --devices 3") == with);
    CHECK(iterations(folder, "gallery:elasticity3d:12:4:4 --coordinates none") > with);
    const std::string matrix = folder.file("beam.kcsr").string();
    const std::string nodes = folder.file("nodes.mtx").string();
    krylith::save_matrix(matrix, krylith::make_gallery<double>("elasticity3d:12:4:4"));
    write_coordinates(nodes, krylith::gallery_coordinates("elasticity3d:12:4:4"));
    CHECK(iterations(folder, matrix + " --coordinates " + nodes) == with);
    CHECK(iterations(folder, matrix) > with);
}

// A thin beam, on which CG with Jacobi takes more iterations than it has before multigrid.
TEST_CASE("solve: the choice takes rigid body modes from the gallery and from files") {
    const temporary_folder folder;
    const auto multigrid = [&](const std::string& arguments) {
        const auto result = run_krylith(folder, "solve " + arguments +
                                                    " --rhs random:1 --backend host --report "
                                                    "out.json");
        REQUIRE_MESSAGE(result.status == 0, result.err);
        const json attempts = json::parse(contents_of(folder.file("out.json"))).at("attempts");
        REQUIRE(attempts.size() >= 2);
        return attempts[1];
    };
    const json with = multigrid("gallery:elasticity3d:100:1:1");
    CHECK(with.at("preconditioner").get<std::string>().find(":block_size=3") != std::string::npos);
    CHECK(with.at("reason") == "converged_rtol");
    const json without = multigrid("gallery:elasticity3d:100:1:1 --coordinates none");
    CHECK(without.at("iterations") > with.at("iterations"));
    const std::string nodes = folder.file("nodes.mtx").string();
    write_coordinates(nodes, krylith::gallery_coordinates("elasticity3d:100:1:1"));
    const std::string matrix = folder.file("beam.kcsr").string();
    krylith::save_matrix(matrix, krylith::make_gallery<double>("elasticity3d:100:1:1"));
    CHECK(multigrid(matrix + " --coordinates " + nodes).at("iterations") == with.at("iterations"));
}

TEST_CASE("solve: coordinates of another size and for other preconditioners are refused") {
    const temporary_folder folder;
    const std::string nodes = folder.file("nodes.mtx").string();
    write_coordinates(nodes, krylith::gallery_coordinates("elasticity3d:2"));
    const std::string command = "solve gallery:elasticity3d:3 --coordinates " + nodes;
    const auto size = run_krylith(folder, command + " --precond amg");
    CHECK(size.status != 0);
    CHECK(size.err.find("an array of 18 x 3, must be that of nodes x 1, 2 or 3 coordinates, "
                        "together 144 as the matrix has rows") != std::string::npos);
    const auto other = run_krylith(folder, command + " --precond jacobi");
    CHECK(other.status != 0);
    CHECK(other.err.find("--coordinates is for --precond amg and auto, not for jacobi") !=
          std::string::npos);
}
