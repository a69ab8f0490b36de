#include <krylith/matrix/load.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <zlib.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/tests/matrix/support/golden.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

TEST_CASE("a name is a gallery spec or a file") {
    const krylith::test::temporary_folder folder;
    CHECK(krylith::load_matrix<double>("gallery:poisson2d:3") == krylith::poisson2d<double>(3));
    const auto path = folder.write("gallery.mtx",
                                   "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 5\n");
    const krylith::csr_matrix<float> expected{1, 1, {0, 1}, {0}, {5}};
    CHECK(krylith::load_matrix<float>(path.string()) == expected);
}

TEST_CASE("what a file held beside the matrix is handed on") {
    const krylith::test::temporary_folder folder;
    const auto path = folder.write(
        "twice.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 1 5\n");
    krylith::file_report report;
    const auto matrix = krylith::load_matrix<double>(path.string(), {.report = &report});
    CHECK(matrix.values == std::vector<double>{6});
    CHECK(report.duplicates == 1);
    CHECK(report.changed_entries());
}

TEST_CASE("a wrong gallery name is a wrong use, a missing file a wrong input") {
    const auto input = [](const std::string& name) {
        return krylith::test::message_of<krylith::input_error>(
            [&] { static_cast<void>(krylith::load_matrix<double>(name)); });
    };
    CHECK_THROWS_AS(static_cast<void>(krylith::load_matrix<double>("gallery:poisson:3")),
                    krylith::usage_error);
    CHECK(input("/nowhere/a.mtx") ==
          "/nowhere/a.mtx: no such file, allowed is the path of a file (Matrix Market, krylith's "
          "binary CSR, SciPy's sparse matrix, NumPy's array, PETSc binary or Rutherford-Boeing), "
          "'-' or gallery:NAME");
    CHECK(input("/nowhere/a.kcsr").starts_with("/nowhere/a.kcsr: no such file"));
    CHECK(input("").find("no such file") != std::string::npos);
    CHECK(input("poisson3d:64") ==
          "poisson3d:64: no such file, did you mean gallery:poisson3d:64?");
}

TEST_CASE("a file is known by its contents, and by its name where they say nothing") {
    using krylith::test::golden;
    const krylith::test::temporary_folder folder;
    for (const std::string name :
         {"csr_deflated.npz", "dense.npy", "matrix.petsc", "rectangular.rb"}) {
        CAPTURE(name);
        const auto path = folder.write("any.mtx", krylith::test::contents_of(golden(name)));
        CHECK(krylith::load_matrix<double>(path.string()) ==
              krylith::test::golden_matrix<double>());
    }
    const auto refusal = [&](const std::string& name) {
        const auto path = folder.write(name, "damaged beyond recognition\n");
        return krylith::test::message_of<krylith::input_error>(
            [&] { static_cast<void>(krylith::load_matrix<double>(path.string())); });
    };
    CHECK(refusal("a.npz").find("zip file") != std::string::npos);
    CHECK(refusal("a.npy").find("NUMPY") != std::string::npos);
    CHECK(refusal("a.petsc").find("no object of PETSc") != std::string::npos);
    CHECK(refusal("a.RSA.gz").find("Rutherford-Boeing") != std::string::npos);
    CHECK(refusal("a.mtx").find("no banner") != std::string::npos);
    CHECK(refusal("a").find("no banner") != std::string::npos);
}

TEST_CASE("a format that holds no vectors, or no matrices, says so") {
    const krylith::test::temporary_folder folder;
    krylith::save_matrix(folder.file("a.kcsr"), krylith::poisson2d<double>(3));
    const auto vector = krylith::test::message_of<krylith::input_error>(
        [&] { static_cast<void>(krylith::load_vector<double>(folder.file("a.kcsr").string())); });
    CHECK(
        vector.find("is krylith's binary CSR, which holds no vectors, allowed are Matrix Market") !=
        std::string::npos);
    const auto matrix = krylith::test::message_of<krylith::input_error>([&] {
        static_cast<void>(krylith::load_matrix<double>(folder.write("b.txt", "1\n2\n").string()));
    });
    CHECK(matrix.find("is a list of numbers, which holds no matrices") != std::string::npos);
    CHECK(krylith::test::message_of<krylith::usage_error>([&] {
              krylith::save_matrix(folder.file("a.txt"), krylith::poisson2d<double>(3));
          }).find("must end in .mtx, .mtx.gz, .kcsr, .npz or .petsc") != std::string::npos);
}

TEST_CASE("a vector is written in the format that the name says, or not at all") {
    const krylith::test::temporary_folder folder;
    const std::vector<double> x = {1, 2};
    const auto refusal = [&](const std::string& name, std::int64_t columns) {
        const auto path = folder.file(name);
        std::string said = krylith::test::message_of<krylith::usage_error>([&] {
            krylith::save_columns<double>(path, {2 / columns, columns, x});
        });
        CHECK(said == krylith::test::message_of<krylith::usage_error>(
                          [&] { krylith::check_columns_path(path, columns); }));
        CHECK_FALSE(std::filesystem::exists(path));
        return said;
    };
    for (const char* name : {"x.npz", "x.kcsr", "x.rb", "x.csv", "x.npy.gz", "x.pdf"})
        CHECK(refusal(name, 1).find("its name must end in .mtx, .mtx.gz, .npy, .petsc, .txt or "
                                    ".txt.gz, which says the format") != std::string::npos);
    for (const char* name : {"x.petsc", "y.txt"})
        CHECK(refusal(name, 2).find("holds one vector, and there are 2: its name must end in .mtx, "
                                    ".mtx.gz or .npy") != std::string::npos);
    for (const char* name : {"x", "x.MTX", "x.mtx.gz", "x.npy"}) {
        krylith::check_columns_path(folder.file(name), 1);
        krylith::save_vector<double>(folder.file(name), x);
        CHECK(krylith::load_vector<double>(folder.file(name).string()) == x);
    }
}

TEST_CASE("every format is read gzipped, too") {
    using krylith::test::golden;
    const krylith::test::temporary_folder folder;
    for (const std::string name :
         {"csr_deflated.npz", "dense.npy", "matrix.petsc", "rectangular.rb"}) {
        CAPTURE(name);
        const std::string bytes = krylith::test::contents_of(golden(name));
        const auto path = folder.file(name + ".gz").string();
        gzFile file = gzopen(path.c_str(), "wb");
        gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
        gzclose(file);
        CHECK(krylith::load_matrix<double>(path) == krylith::test::golden_matrix<double>());
        const std::string packed = krylith::test::contents_of(path);
        folder.write("cut.gz", packed.substr(0, packed.size() - 5));
        CHECK(krylith::test::message_of<krylith::input_error>([&] {
                  static_cast<void>(krylith::load_matrix<double>(folder.file("cut.gz").string()));
              }).find("end too early") != std::string::npos);
    }
}
