// What the krylith command refuses, and how.
#include <new>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/tests/tools/support/command_run.hpp>
#include <krylith/tools/cli/command.hpp>

using krylith::test::contains;
using krylith::test::has_benchmarks;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;
using krylith::tool::exit_status;
using krylith::tool::status_of;

TEST_CASE("the exit status follows the type of the failure") {
    CHECK(status_of(krylith::usage_error("")) == exit_status::usage);
    CHECK(status_of(krylith::input_error("")) == exit_status::bad_input);
    CHECK(status_of(krylith::device_error("")) == exit_status::device_failure);
    CHECK(status_of(krylith::communication_error("")) == exit_status::communication_failure);
    CHECK(status_of(std::bad_alloc()) == exit_status::device_failure);
}

TEST_CASE("help and version are answers, nothing at all is not") {
    const temporary_folder folder;
    const auto help = run_krylith(folder, "--help");
    CHECK(help.status == 0);
    for (const char* command : {"solve", "spmv", "multiply", "add", "graph", "info", "recommend",
                                "convert", "devices", "bench", "gallery"}) {
        CHECK(contains(help.out, command));
        CHECK(run_krylith(folder, std::string(command) + " --help").status == 0);
    }
    CHECK(run_krylith(folder, "--version").out == "krylith " KRYLITH_VERSION "\n");
    CHECK(run_krylith(folder, "").status == 2);
}

TEST_CASE("help gives every default") {
    const temporary_folder folder;
    const std::string help = run_krylith(folder, "solve --help").out;
    for (const std::string text :
         {"[ones]", "[auto]", "[fp64: 1e-08, fp32: 1e-05]", "[min(10 n, 10000)]", "[30]", "[fp64]"})
        CHECK_MESSAGE(contains(help, text), text);
}

TEST_CASE("unknown names are refused with the nearest valid one") {
    const temporary_folder folder;
    const auto refused = [&](const std::string& arguments, const std::string& nearest) {
        const auto result = run_krylith(folder, arguments);
        CHECK_MESSAGE(result.status == 2, arguments);
        CHECK_MESSAGE(contains(result.err, "did you mean '" + nearest + "'?"), result.err);
        CHECK(result.out.empty());
    };
    const std::string solve = "solve gallery:poisson2d:4 ";
    refused("slove gallery:poisson2d:4", "solve");
    refused(solve + "--sovler cg", "--solver");
    refused(solve + "--max_iterations=3", "--max-iterations");
    refused(solve + "--solver cgg", "cg");
    refused(solve + "--precond jakobi", "jacobi");
    refused(solve + "--operator hallo", "halo");
    refused(solve + "--operator lra-cr:measured", "lra-rc");
    refused(solve + "--reorder rmc", "rcm");
    refused(solve + "--reorder mtis", "metis");
    refused(solve + "--operator lra-cr", "lra-rc");
    refused(solve + "--transport copy", "copy-engine");
    refused(solve + "--format cst", "csr");
    refused(solve + "--backend hots", "host");
    refused(solve + "--precision fp46", "fp64");
    refused(solve + "--execution eagre", "eager");
    refused(solve + "--transport stage", "staged");
    refused(solve + "--side rihgt", "right");
    if (has_benchmarks()) {
        refused("bench spvm gallery:poisson2d:4", "spmv");
        refused("bench cg gallery:poisson2d:4 --precond jakobi", "jacobi");
        refused("bench cg gallery:poisson2d:4 --agains all", "--against");
    }
    refused("graph bsf gallery:poisson2d:4", "bfs");
    refused("graph bfs gallery:poisson2d:4 --kernel colum-sort", "column-sort");
    refused("graph bfs gallery:poisson2d:4 --kernel adaptiv", "adaptive");
    CHECK(contains(run_krylith(folder, "solve gallery:poisson2t:4").err, "poisson2d"));
}

TEST_CASE("capitals, beginnings and what others call it are understood in suggestions") {
    const temporary_folder folder;
    const auto suggests = [&](const std::string& arguments, const std::string& name) {
        const auto result = run_krylith(folder, arguments);
        CHECK_MESSAGE(result.status == 2, arguments);
        CHECK_MESSAGE(contains(result.err, "did you mean '" + name + "'?"), result.err);
    };
    const std::string solve = "solve gallery:poisson2d:4 ";
    for (const std::string given :
         {"--maxit 3", "--max-iter 3", "--maxiter=3", "--MaxIterations 3", "--iterations 3"})
        suggests(solve + given, "--max-iterations");
    suggests(solve + "--max 3", "--max-seconds");
    suggests(solve + "--tol 1e-6", "--rtol");
    suggests(solve + "--tolerance 1e-6", "--rtol");
    suggests(solve + "--output x.mtx", "--solution");
    if (has_benchmarks()) suggests("bench cg gallery:poisson2d:4 --output x.json", "--report");
    suggests("spmv gallery:poisson2d:4 --out y.mtx", "--output");
    suggests(solve + "--ngpus 2", "--devices");
    suggests(solve + "--solver GMRES", "gmres");
    suggests(solve + "--solver bicg", "bicgstab");
    suggests(solve + "--solver pcg", "cg");
    suggests(solve + "--precond diagonal", "jacobi");
    suggests(solve + "--precision double", "fp64");
    suggests(solve + "--backend GPU", "cuda");
    suggests("SOLVE gallery:poisson2d:4", "solve");
}

TEST_CASE("where no name is near, none is suggested, and what is allowed is listed") {
    const temporary_folder folder;
    const auto lists = [&](const std::string& arguments, const std::string& allowed) {
        const auto result = run_krylith(folder, arguments);
        CHECK_MESSAGE(result.status == 2, arguments);
        CHECK_MESSAGE(!contains(result.err, "did you mean"), result.err);
        CHECK_MESSAGE(contains(result.err, allowed), result.err);
    };
    const std::string solve = "solve gallery:poisson2d:4 ";
    lists(solve + "--verbose", "allowed are --help --spd --match-rows --rhs ");
    lists(solve + "-n 3", "allowed are --help --spd --match-rows --rhs ");
    lists(solve + "--precond schwarz", "'schwarz': valid are auto none jacobi");
    lists(solve + "--solver qmr", "'qmr': valid are auto cg cg:launched");
    lists(solve + "--operator mpi", "'mpi': valid are auto halo");
    lists("foo", "'foo': valid are solve spmv");
    lists("graph wcc gallery:poisson2d:4", "'wcc': valid are bfs pagerank sssp");
    const auto gallery = run_krylith(folder, "solve gallery:xyzzy");
    CHECK(contains(gallery.err, "unknown matrix \"xyzzy\". Allowed: anisotropic3d, "));
}

TEST_CASE("values out of range and odd arguments are wrong uses") {
    const temporary_folder folder;
    for (const std::string arguments :
         {"solve",
          "spmv gallery:poisson2d:4 another",
          "solve gallery:poisson2d:4 --rtol",
          "solve gallery:poisson2d:4 --rtol x",
          "solve gallery:poisson2d:4 --rtol -1",
          "solve gallery:poisson2d:4 --restart 0",
          "solve gallery:poisson2d:4 --rhs random:x",
          "solve gallery:poisson2d:4 --backend host --devices 0",
          "solve gallery:poisson2d:4 --backend host --devices two",
          "solve gallery:poisson2d:4 --backend host --devices 1,2",
          "solve gallery:poisson2d:4 --backend host --format sell",
          "solve gallery:poisson2d:4:5:6",
          "solve gallery:poisson2d:4 --backend host --operator lra --long-fraction 2",
          "solve gallery:poisson2d:4 --backend host --operator nz --long-fraction 0.5",
          "solve gallery:poisson2d:4 --backend host --operator nz:measured",
          "solve gallery:poisson2d:4 --backend host --operator halo --transport copy-engine",
          "solve gallery:poisson2d:4 --backend host --operator nz --transport nccl",
          "spmv gallery:poisson2d:4 --repeat 0",
          "graph",
          "graph bfs",
          "graph bfs gallery:poisson2d:4 --source 0",
          "graph bfs gallery:poisson2d:4 --source 17",
          "graph bfs gallery:poisson2d:4 --source 1,2",
          "graph bfs gallery:poisson2d:4 --source x",
          "graph bfs gallery:poisson2d:4 --max-steps 0",
          "graph sssp gallery:road:4 --parents p.mtx",
          "graph pagerank gallery:poisson2d:4 --source 3,3",
          "graph pagerank gallery:poisson2d:4 --damping 1",
          "graph pagerank gallery:poisson2d:4 --tolerance 0",
          "graph pagerank gallery:poisson2d:4 --reproducible --kernel column-atomic"}) {
        const auto result = run_krylith(folder, arguments);
        CHECK_MESSAGE(result.status == 2, arguments);
        CHECK_MESSAGE(result.err.starts_with("krylith: "), result.err);
    }
}

TEST_CASE("a refused value is named with its option and what is allowed") {
    const temporary_folder folder;
    const auto refused = [&](const std::string& arguments, const std::string& words) {
        const auto result = run_krylith(folder, arguments);
        CHECK_MESSAGE(result.status == 2, arguments);
        CHECK_MESSAGE(contains(result.err, words), result.err);
    };
    const std::string solve = "solve gallery:poisson2d:4 --backend host ";
    refused(solve + "--max-iterations 9223372036854775808",
            "--max-iterations: 9223372036854775808 is too large");
    refused("spmv gallery:poisson2d:4 --repeat 99999999999999999999", "is too large");
    refused("solve", "MATRIX is required; krylith solve --help");
    refused(solve + "--rtol x", "--rtol is 'x': allowed is a number;");
    refused(solve + "--restart 1.5", "--restart is '1.5': allowed is a whole number");
    refused(solve + "--devices 0", "--devices asks for 0 devices: allowed are 1 to 64");
    refused(solve + "--devices x", "--devices is 'x': allowed are a number, or");
    refused(solve + "--threads -2", "--threads is -2: allowed are 0");
    if (has_benchmarks()) {
        refused("bench cg gallery:poisson2d:4 --backend host --device-counts 1,99",
                "--device-counts asks for 99 devices: allowed are 1 to 64");
        refused("bench cg gallery:poisson2d:4 --warm-up 0",
                "--warm-up is 0: allowed are 1 and more");
    }
    refused("recommend gallery:poisson2d:4 --seconds -1", "--seconds is -1: allowed is more");
    refused(solve + "--monitor 0", "--monitor is 0: allowed are 1 and more");
    refused(solve + "--max-seconds -1", "--max-seconds is -1: allowed are 0 and more");
    refused(solve + "--max-seconds nan", "--max-seconds is nan");
    refused("spmv gallery:poisson2d:4 --repeat 0", "--repeat is 0: allowed are 1 and more");
    refused("spmv gallery:poisson2d:4 --alpha nan", "--alpha is nan");
    std::vector<std::string> commands = {"solve", "spmv", "recommend"};
    if (has_benchmarks()) commands.emplace_back("bench cg");
    for (const std::string& command : commands)
        for (const char* wrong : {"0", "-1", "nan", "inf"})
            refused(command + " gallery:poisson2d:4 --backend host --timeout " + wrong,
                    "--timeout is " + std::string(wrong) + ": allowed are more than 0");
}

TEST_CASE("files that can't be read, written or solved are bad input") {
    const temporary_folder folder;
    folder.write("flat.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
    folder.write("short.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n1\n");
    folder.write("hollow.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 1\n");
    folder.write("broken.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n");
    const std::string solve = "solve gallery:poisson2d:4 --backend host ";
    folder.write("nothing.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
    for (const std::string& arguments :
         {std::string("solve absent.mtx"), std::string("graph bfs nothing.mtx"),
          std::string("solve flat.mtx --solver cg"), std::string("solve broken.mtx"),
          solve + "--rhs absent.mtx", solve + "--rhs short.mtx", solve + "--x0 short.mtx",
          solve + "--report absent/report.json", solve + "--plot .",
          std::string("solve hollow.mtx --precond jacobi")}) {
        const auto result = run_krylith(folder, arguments);
        CHECK_MESSAGE(result.status == 3, arguments);
        CHECK_MESSAGE(result.err.starts_with("krylith: "), result.err);
    }
    CHECK(contains(run_krylith(folder, "solve broken.mtx").err, "broken.mtx:3"));
}

TEST_CASE("asking for CUDA where there is none is a device failure" *
          doctest::skip(KRYLITH_HAVE_CUDA == 1)) {
    const temporary_folder folder;
    CHECK(run_krylith(folder, "solve gallery:poisson2d:4 --backend cuda").status == 4);
}
