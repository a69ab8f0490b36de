// "-" as standard input: a matrix, or a vector.
#include <string>

#include <doctest/doctest.h>

#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/tests/matrix/support/golden.hpp>
#include <krylith/tests/tools/support/command_run.hpp>

using krylith::test::contains;
using krylith::test::golden;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;

TEST_CASE("a matrix of any format comes from standard input") {
    const temporary_folder folder;
    const auto matrix = krylith::poisson2d<double>(5);
    for (const std::string name : {"a.mtx", "a.mtx.gz", "a.kcsr", "a.npz", "a.petsc"}) {
        krylith::save_matrix(folder.file(name), matrix);
        const auto piped = run_krylith(folder, "convert - b.kcsr --quiet < " + name);
        CHECK_MESSAGE(piped.status == 0, piped.err);
        CHECK(krylith::load_matrix<double>(folder.file("b.kcsr").string()) == matrix);
    }
    for (const std::string command :
         {"solve - --backend host", "spmv - --backend host --repeat 2", "info - --no-picture"}) {
        const auto result = run_krylith(folder, command + " < a.mtx");
        CHECK_MESSAGE(result.status == 0, result.err);
        CHECK(contains(result.out, "25"));
    }
    CHECK(run_krylith(folder, "info - --no-picture < " + golden("rectangular.rb")).status == 0);
}

TEST_CASE("a vector comes from standard input, but only one input does") {
    const temporary_folder folder;
    krylith::save_matrix(folder.file("a.mtx"), krylith::poisson2d<double>(2));
    folder.write("b.txt", "1 2 3 4\n");
    const std::string solve = "solve a.mtx --backend host --quiet --solution ";
    CHECK(run_krylith(folder, solve + "x.npy --rhs b.txt").status == 0);
    CHECK(run_krylith(folder, solve + "y.npy --rhs - < b.txt").status == 0);
    CHECK(krylith::load_vector<double>(folder.file("x.npy").string()) ==
          krylith::load_vector<double>(folder.file("y.npy").string()));
    CHECK(run_krylith(folder, solve + "z.npy --x0 - < b.txt").status == 0);
    for (const std::string twice : {"solve - --rhs - < b.txt", "solve a.mtx --rhs - --x0 - < b.txt",
                                    "solve - - < a.mtx", "spmv - --x - < a.mtx"}) {
        const auto refused = run_krylith(folder, twice);
        CHECK(refused.status == 2);
        CHECK_MESSAGE(contains(refused.err, "standard input"), refused.err);
    }
    const auto wrong = run_krylith(folder, "solve a.mtx --rhs - < a.mtx");
    CHECK(wrong.status == 3);
    CHECK_MESSAGE(contains(wrong.err, "standard input"), wrong.err);
}
