// krylith convert, as a user calls it.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/kcsr.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/tests/tools/support/command_run.hpp>

using krylith::load_matrix;
using krylith::test::contains;
using krylith::test::contents_of;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;

namespace {

/// Variants of Matrix Market, each with something that a conversion could lose.
const std::string variants[] = {
    "%%MatrixMarket matrix coordinate real general\n3 4 3\n3 4 0.1\n1 2 -1e-300\n2 1 7\n",
    "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 0\n1 2 0\n2 2 5\n", // stored zeros
    "%%MatrixMarket matrix coordinate real general\n2 2 3\n2 1 1\n2 1 2\n1 1 4\n", // a duplicate
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2\n2 1 -1\n3 2 0\n",
    "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 3\n3 1 4\n",
    "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 3\n3 1\n",
    "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 9007199254740993\n",
    "%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n4\n",
    "%%MatrixMarket matrix coordinate real general\n0 0 0\n",
    "%%MatrixMarket matrix coordinate real general\n5 3 0\n"};

} // namespace

TEST_CASE("convert and info say what a file held, and take --spd") {
    const temporary_folder folder;
    folder.write("a.mtx", variants[2]);
    for (const char* command : {"convert a.mtx b.kcsr", "info a.mtx --no-picture"}) {
        const auto said = run_krylith(folder, command).out;
        CHECK_MESSAGE(contains(said, "real general, 3 entries; 1 duplicate was added"), said);
    }
    CHECK_FALSE(contains(run_krylith(folder, "info b.kcsr --no-picture").out, "entries;"));
    CHECK(run_krylith(folder, "convert a.mtx c.kcsr --spd --quiet").status == 0);
    const auto spd = load_matrix<double>(folder.file("c.kcsr").string());
    CHECK(spd.values == std::vector<double>{4, 1.5, 1.5, 1.5234375});
    CHECK(contains(run_krylith(folder, "info a.mtx --spd --no-picture").out, "SPD"));
    const auto advice = run_krylith(folder, "recommend a.mtx --spd --seconds 1 --backend host");
    CHECK_MESSAGE(contains(advice.out, "krylith solve a.mtx --spd --solver cg"), advice.out);
}

TEST_CASE("every kind of file goes through .kcsr and back to text without a change") {
    // Would surface: an entry, a stored zero or a last digit lost on the way.
    const temporary_folder folder;
    for (const std::string& text : variants) {
        CAPTURE(text);
        const auto original = load_matrix<double>(folder.write("a.mtx", text).string());
        for (const char* arguments : {"convert a.mtx b.kcsr", "convert b.kcsr c.mtx",
                                      "convert c.mtx d.mtx.gz", "convert d.mtx.gz e.kcsr"}) {
            const auto result = run_krylith(folder, arguments);
            REQUIRE_MESSAGE(result.status == 0, result.err);
            CHECK(contains(result.out, std::to_string(original.nnz()) + " nonzeros"));
        }
        for (const char* name : {"b.kcsr", "c.mtx", "d.mtx.gz", "e.kcsr"})
            CHECK(load_matrix<double>(folder.file(name).string()) == original);
        CHECK(contents_of(folder.file("b.kcsr")) == contents_of(folder.file("e.kcsr")));
    }
}

TEST_CASE("convert writes and reads the formats of SciPy and PETSc") {
    const temporary_folder folder;
    const auto original = load_matrix<double>(folder.write("a.mtx", variants[0]).string());
    for (const char* arguments :
         {"convert a.mtx b.npz", "convert b.npz c.petsc", "convert c.petsc d.kcsr"})
        REQUIRE(run_krylith(folder, arguments).status == 0);
    for (const char* name : {"b.npz", "c.petsc", "d.kcsr"})
        CHECK(load_matrix<double>(folder.file(name).string()) == original);
    const auto said = run_krylith(folder, "info b.npz --no-picture").out;
    CHECK_MESSAGE(contains(said, "scipy.sparse csr <f8 general, 3 entries"), said);
}

TEST_CASE("convert --vector writes vectors") {
    const temporary_folder folder;
    folder.write("b.txt", "# mine\n0.1 2\n-3e-4\n");
    for (const char* arguments :
         {"b.txt c.npy", "c.npy d.petsc", "d.petsc e.mtx", "e.mtx f.mtx.gz", "f.mtx.gz g.txt"}) {
        const auto result = run_krylith(folder, std::string("convert --vector ") + arguments);
        REQUIRE_MESSAGE(result.status == 0, result.err);
        CHECK(contains(result.out, "3 entries"));
    }
    CHECK(krylith::load_vector<double>(folder.file("g.txt").string()) ==
          std::vector<double>{0.1, 2, -3e-4});
    CHECK(contains(run_krylith(folder, "convert --vector b.txt c.kcsr").err,
                   ".mtx, .mtx.gz, .npy, .petsc, .txt or .txt.gz"));
    CHECK(run_krylith(folder, "convert --vector --spd b.txt c.npy").status == 2);
}

TEST_CASE("convert --transpose writes A'") {
    const temporary_folder folder;
    for (const std::string& text : variants) {
        CAPTURE(text);
        const auto original = load_matrix<double>(folder.write("a.mtx", text).string());
        REQUIRE(run_krylith(folder, "convert a.mtx b.kcsr --transpose").status == 0);
        const auto mirrored = load_matrix<double>(folder.file("b.kcsr").string());
        CHECK(mirrored.rows == original.columns);
        CHECK(mirrored.columns == original.rows);
        std::vector<std::vector<double>> difference(
            static_cast<std::size_t>(original.rows),
            std::vector<double>(static_cast<std::size_t>(original.columns)));
        const auto subtract = [&](const krylith::csr_matrix<double>& m, bool swapped, double sign) {
            for (std::size_t i = 0; i < static_cast<std::size_t>(m.rows); ++i)
                for (auto k = static_cast<std::size_t>(m.row_offsets[i]);
                     k < static_cast<std::size_t>(m.row_offsets[i + 1]); ++k) {
                    const auto j = static_cast<std::size_t>(m.column_indices[k]);
                    difference[swapped ? j : i][swapped ? i : j] += sign * m.values[k];
                }
        };
        subtract(original, false, 1);
        subtract(mirrored, true, -1);
        CHECK(mirrored.nnz() == original.nnz());
        for (const auto& row : difference)
            for (const double entry : row) CHECK(entry == 0);
        REQUIRE(run_krylith(folder, "convert b.kcsr c.mtx --transpose").status == 0);
        CHECK(load_matrix<double>(folder.file("c.mtx").string()) == original);
    }
    CHECK(run_krylith(folder, "convert --vector --transpose a.mtx c.npy").status == 2);
}

TEST_CASE("the precision is that of the values that are written") {
    // Would surface: fp32 asked for and fp64 written.
    const temporary_folder folder;
    REQUIRE(run_krylith(folder, "convert gallery:poisson2d:5:random=1 a.kcsr --precision fp32")
                .status == 0);
    CHECK(krylith::read_binary_csr<float>(folder.file("a.kcsr")) ==
          krylith::poisson2d<float>(5, krylith::random_scaling{1}));
    REQUIRE(run_krylith(folder, "convert gallery:poisson2d:5 b.kcsr").status == 0);
    CHECK(std::filesystem::file_size(folder.file("b.kcsr")) >
          std::filesystem::file_size(folder.file("a.kcsr")));
}

TEST_CASE("solve and spmv take .kcsr files") {
    // Would surface: a command with its own way to load a matrix.
    const temporary_folder folder;
    REQUIRE(run_krylith(folder, "convert gallery:poisson2d:9 a.kcsr --quiet").out.empty());
    CHECK(run_krylith(folder, "solve a.kcsr --backend host").status == 0);
    CHECK(run_krylith(folder, "solve a.kcsr --backend host --precision fp32 --rtol 1e-4").status ==
          0);
    CHECK(run_krylith(folder, "spmv a.kcsr --backend host --repeat 2").status == 0);
}

TEST_CASE("convert refuses outputs that it can't or shouldn't write, and bad inputs") {
    // Would surface: an input truncated before it is read, an exit status of 0 without a file.
    const temporary_folder folder;
    folder.write("a.mtx", variants[0]);
    CHECK(run_krylith(folder, "convert a.mtx").status == 2);
    CHECK(run_krylith(folder, "convert a.mtx b.bin").status == 2);
    CHECK(contains(run_krylith(folder, "convert a.mtx b.bin").err,
                   ".mtx, .mtx.gz, .kcsr, .npz or .petsc"));
    CHECK(run_krylith(folder, "convert a.mtx b.kcsr --precision fp16").status == 2);
    CHECK(run_krylith(folder, "convert a.mtx ./a.mtx").status == 2);
    CHECK(contents_of(folder.file("a.mtx")) == variants[0]);
    CHECK(run_krylith(folder, "convert a.mtx absent/b.kcsr").status == 3);
    CHECK(run_krylith(folder, "convert absent.mtx b.kcsr").status == 3);
    folder.write("complex.mtx",
                 "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n");
    CHECK(run_krylith(folder, "convert complex.mtx b.kcsr").status == 3);
    CHECK_FALSE(std::filesystem::exists(folder.file("b.kcsr")));
}
