// Files of which each driver reads its share: the same rows, and the same words, as one reader's.
#include <krylith/distributed/local_files.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/kcsr.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/matrix/matrix_market.hpp>
#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/tests/comm/drivers.hpp>
#include <krylith/tests/matrix/support/golden.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/matrix/support/random_entries.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

using namespace krylith;
using krylith::test::contents_of;
using krylith::test::message_of;
using krylith::test::temporary_folder;
using krylith::testing::with_drivers;

namespace {

/// Ranks of each driver: 1 to 5 drivers.
const std::vector<std::vector<int>> deals = {{2}, {1, 1}, {2, 1}, {1, 1, 1, 1}, {1, 2, 1, 1, 2}};

std::vector<device_group> groups_of(const std::vector<int>& sizes) {
    std::vector<device_group> groups;
    for (const int size : sizes) groups.push_back(device_group::host(size, {.host_threads = size}));
    return groups;
}

template <class T>
void check_rows(const std::filesystem::path& path, int block_size = 1) {
    CAPTURE(path);
    file_report report;
    const auto expected = load_matrix<T>(path.string(), {.report = &report});
    for (const auto& sizes : deals) {
        std::mutex guard; // doctest's checks are not for several threads at once
        testing::expect_none(with_drivers(groups_of(sizes), [&](const communicator& comm) {
            file_report found;
            const own_rows<T> mine =
                load_rows<T>(comm, path.string(), {.report = &found}, block_size);
            const std::scoped_lock lock(guard);
            CHECK(mine.rows == partition_rows(csr_view<T>(expected), comm.ranks(), block_size));
            CHECK(mine.nonzeros == expected.nnz());
            CHECK(mine.matrix.columns == expected.columns);
            CHECK(mine.columns.rows() == expected.columns);
            CHECK(found == report);
            const auto parts = mine.parts(comm);
            for (const int rank : comm.local()) {
                const row_range own = mine.rows.owned(rank);
                const csr_part<T>& part = parts[static_cast<std::size_t>(rank)];
                CHECK(part.rows == own.size());
                const auto* const offsets = expected.row_offsets.data() + own.begin;
                bool same = true;
                for (std::int64_t row = 0; row <= own.size(); ++row)
                    same = same && part.row_offsets.wide[row] - part.row_offsets.wide[0] ==
                                       offsets[row] - offsets[0];
                const std::int64_t count = offsets[own.size()] - offsets[0];
                same = same &&
                       std::equal(part.column_indices.narrow, part.column_indices.narrow + count,
                                  expected.column_indices.begin() + offsets[0]);
                same = same && std::equal(part.values, part.values + count,
                                          expected.values.begin() + offsets[0], [](T a, T b) {
                                              return a == b && std::signbit(a) == std::signbit(b);
                                          });
                CHECK(same);
            }
        }));
    }
}

/// All drivers must throw what a single reader does.
void check_refusal(const std::filesystem::path& path) {
    const std::string expected =
        message_of<input_error>([&] { (void)load_matrix<double>(path.string()); });
    CAPTURE(expected);
    CHECK(expected.find(path.string()) == 0);
    for (const auto& sizes : deals) {
        const auto thrown = with_drivers(groups_of(sizes), [&](const communicator& comm) {
            (void)load_rows<double>(comm, path.string());
        });
        for (const auto& one : thrown)
            CHECK(message_of<input_error>([&] {
                      if (one) std::rethrow_exception(one);
                  }) == expected);
    }
}

std::string text_of(const coo_matrix<double>& coo, const std::string& banner,
                    const std::string& line_end = "\n") {
    std::string text = "%%MatrixMarket matrix coordinate " + banner + line_end + "% a comment" +
                       line_end + std::to_string(coo.rows) + " " + std::to_string(coo.columns) +
                       " " + std::to_string(coo.entries()) + line_end;
    for (std::size_t k = 0; k < coo.values.size(); ++k) {
        text += std::to_string(coo.row_indices[k] + 1) + " " +
                std::to_string(coo.column_indices[k] + 1) + " " + std::to_string(coo.values[k]) +
                line_end;
        if (k % 7 == 3) text += "  " + line_end;
    }
    return text;
}

/// One of each pair (i, j) and (j, i), on either side of the diagonal, some twice.
coo_matrix<double> half_of(std::int64_t n, std::int64_t entries, bool diagonal) {
    coo_matrix<double> coo = test::random_entries<double>(n, n, entries, 7);
    coo_matrix<double> half{n, n, {}, {}, {}};
    for (std::size_t k = 0; k < coo.values.size(); ++k) {
        std::int32_t i = coo.row_indices[k];
        std::int32_t j = coo.column_indices[k];
        if (i == j && !diagonal) continue;
        if ((i > j) != ((i + j) % 3 == 0)) std::swap(i, j);
        half.row_indices.push_back(i);
        half.column_indices.push_back(j);
        half.values.push_back(coo.values[k]);
    }
    return half;
}

} // namespace

TEST_CASE("local files: rows of Matrix Market files") {
    const temporary_folder folder;
    check_rows<double>(folder.write(
        "general.mtx", text_of(test::random_entries<double>(70, 50, 900, 1), "real general")));
    check_rows<float>(
        folder.write("float.mtx", text_of(test::random_entries<double>(50, 50, 900, 2),
                                          "real general", "\r\n")));
    check_rows<double>(
        folder.write("symmetric.mtx", text_of(half_of(60, 400, true), "real symmetric")));
    check_rows<double>(
        folder.write("skew.mtx", text_of(half_of(60, 400, false), "real skew-symmetric")));
    // Duplicates that add up to 0, whose sign is that of the sum.
    check_rows<double>(folder.write(
        "cancel.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n5 5 5\n2 1 1\n5 4 2\n"
                      "2 1 -1\n3 1 4\n5 4 -2\n"));
    check_rows<double>(
        folder.write("one.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 3"));
    check_rows<double>(
        folder.write("none.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n"));
    check_rows<double>(
        folder.write("empty.mtx", "%%MatrixMarket matrix coordinate real general\n40 40 0\n\n"));
    check_rows<double>(folder.write(
        "wide.mtx",
        "%%MatrixMarket matrix coordinate integer general\n2 9 3\n1 9 3\n2 1 4\n\n\n\n1 9 5\n"));
    check_rows<double>(folder.write(
        "pattern.mtx",
        "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n3 1 7\n2 2\n"));
    check_rows<double>(folder.write(
        "array.mtx", "%%MatrixMarket matrix array real general\n3 2\n1\n0\n3\n\n4\n5\n0\n"));
    check_rows<double>(folder.write(
        "half.mtx", "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n0\n5\n6\n"));
    check_rows<double>(folder.write(
        "skew_half.mtx", "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"));
    check_rows<double>(
        folder.write("amgx.mtx", "%%MatrixMarket matrix coordinate real general\n%%AMGX 1 1 base0 "
                                 "rhs\n2 2 2\n0 0 4\n1 1 5\n1\n2\n"));
    // A line that is longer than what each driver reads.
    check_rows<double>(folder.write(
        "long.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 4\n1 1 1\n2 2" +
                        std::string(9000, ' ') + "2\n3 3 3\n4 4 4\n"));
    const auto large = make_gallery<double>("poisson2d:70:random=3");
    write_matrix_market(folder.file("large.mtx"), large);
    check_rows<double>(folder.file("large.mtx"));
    write_matrix_market(folder.file("large.mtx.gz"), large);
    check_rows<double>(folder.file("large.mtx.gz"));
    const auto nodes = make_gallery<double>("elasticity3d:6"); // rows of a node stay together
    write_matrix_market(folder.file("nodes.mtx"), nodes);
    check_rows<double>(folder.file("nodes.mtx"));
    for (const char* name : {"large.mtx", "large.kcsr", "large.npz"}) { // somebody names 7 rows
        save_matrix(folder.file(name), large);
        check_rows<double>(folder.file(name), 7);
    }
}

TEST_CASE("local files: drivers with memory of their own [processes]") {
    const testing::drivers_treated_as processes({.separate_memory = true});
    const temporary_folder folder;
    check_rows<double>(folder.write(
        "general.mtx", text_of(test::random_entries<double>(70, 70, 900, 1), "real general")));
    const auto path = folder.file("a.kcsr");
    write_binary_csr(path, make_gallery<double>("poisson2d:40"));
    check_rows<double>(path);
}

TEST_CASE("local files: entries that travel in several messages") {
    const temporary_folder folder;
    const auto path = folder.write(
        "many.mtx", text_of(test::random_entries<double>(3000, 3000, 300000, 5), "real general"));
    check_rows<double>(path);
}

TEST_CASE("local files: rows of .kcsr files") {
    const temporary_folder folder;
    int number = 0;
    for (const char* name : {"poisson1d:1", "poisson1d:3", "poisson2d:40", "elasticity3d:6",
                             "kron:12", "random:3000:9"}) {
        const auto matrix = make_gallery<double>(name);
        const auto path = folder.file(std::to_string(number++) + ".kcsr");
        write_binary_csr(path, matrix);
        check_rows<double>(path);
        check_rows<float>(path);
    }
    const auto empty = folder.file("empty.kcsr");
    write_binary_csr(empty, csr_matrix<double>{});
    check_rows<double>(empty);
    // Several MiB, so that chunks under a checksum have rows of several drivers.
    const auto large = folder.file("large.kcsr");
    write_binary_csr(large, make_gallery<double>("poisson3d:60:random=1"));
    check_rows<double>(large);
}

TEST_CASE("local files: other formats are cut when they have been read") {
    const temporary_folder folder;
    const auto matrix = make_gallery<double>("poisson2d:30:random=1");
    for (const char* name : {"a.npz", "a.petsc"}) {
        save_matrix(folder.file(name), matrix);
        check_rows<double>(folder.file(name));
    }
}

TEST_CASE("local files: flaws of Matrix Market files") {
    const temporary_folder folder;
    const std::string head = "%%MatrixMarket matrix coordinate real general\n";
    std::string lines;
    for (int k = 1; k <= 200; ++k) lines += std::to_string(k) + " " + std::to_string(k) + " 1\n";
    const auto with = [&](int line, const std::string& text, int count = 200) {
        std::string changed = head + "200 200 " + std::to_string(count) + "\n" + lines;
        std::size_t at = 0;
        for (int k = 1; k < line; ++k) at = changed.find('\n', at) + 1;
        changed.replace(at, changed.find('\n', at) - at, text);
        return folder.write("flawed.mtx", changed);
    };
    for (const int line : {3, 50, 80, 120, 202}) {
        check_refusal(with(line, "1 1 x"));
        check_refusal(with(line, "201 1 1"));
        check_refusal(with(line, "% no comment"));
        check_refusal(with(line, "1 1 1 1"));
        check_refusal(with(line, std::string("1 1 \0 1", 7)));
        check_refusal(with(line, "1 1\r1 1"));
        check_refusal(with(line, ""));             // one entry is missing
        check_refusal(with(line, "1 1 1\n1 1 1")); // one too many
        check_refusal(with(line, "1 1 1e308\n1 1 1e308\n1 1 1e308", 202));
    }
    check_refusal(with(2, "200 200"));
    check_refusal(with(2, "200 200 199"));
    check_refusal(with(2, "200 200 100"));
    check_refusal(with(2, "200 200 100000"));
    check_refusal(with(1, "no banner"));
    check_refusal(folder.write("empty.mtx", ""));
    check_refusal(folder.file("none.mtx"));
    // Two flaws: the first one is everybody's.
    std::string two = head + "200 200 200\n" + lines;
    two.replace(two.find("60 60 1"), 7, "60 60 a");
    two.replace(two.find("160 160 1"), 9, "160 160 b");
    check_refusal(folder.write("two.mtx", two));
    const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n9 9 6\n";
    check_refusal(
        folder.write("twice.mtx", symmetric + "8 8 1\n2 1 1\n9 3 1\n7 8 1\n3 9 1\n8 7 1\n"));
    // A line that is longer than any may be.
    check_refusal(folder.write("endless.mtx", head + "2 2 2\n1 1 1\n" +
                                                  std::string(std::size_t{40} << 20, '1') +
                                                  "\n2 2 2\n"));
}

TEST_CASE("local files: entries for which their owner has no memory") {
    const temporary_folder folder;
    std::string text = "%%MatrixMarket matrix coordinate real general\n20000 20000 20000\n";
    for (int k = 1; k <= 20000; ++k) text += "1 " + std::to_string(k) + " 1\n"; // all in one row
    const auto path = folder.write("row.mtx", text);
    for (const auto& one : with_drivers(groups_of({1, 1}), [&](const communicator& comm) {
             (void)load_rows<double>(comm, path.string(), {.memory = 450'000});
         }))
        CHECK(message_of<input_error>([&] {
                  if (one) std::rethrow_exception(one);
              }).find("need another 320 kB of memory") != std::string::npos);
}

TEST_CASE("local files: flaws of .kcsr files") {
    const temporary_folder folder;
    const auto path = folder.file("m.kcsr");
    write_binary_csr(path, make_gallery<double>("poisson3d:60:random=1"));
    const std::string good = contents_of(path);
    for (std::size_t k = 0; k < 40; ++k) { // a bit anywhere
        std::string bad = good;
        bad[k * (good.size() - 1) / 39] ^= 4;
        check_refusal(folder.write("bad.kcsr", bad));
    }
    std::string two = good;
    two[good.size() / 2] ^= 1;
    two[good.size() / 3] ^= 1;
    check_refusal(folder.write("bad.kcsr", two));
    for (const std::size_t size :
         {std::size_t{9}, std::size_t{100}, good.size() / 2, good.size() - 1})
        check_refusal(folder.write("bad.kcsr", good.substr(0, size)));
    check_refusal(folder.write("bad.kcsr", good + "x"));
}

TEST_CASE("local files: vectors") {
    const temporary_folder folder;
    std::vector<double> values(300000);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = 1.0 / static_cast<double>(k + 1);
    const row_partition two{{0, 100001, 300000}};
    for (const char* name : {"x.mtx", "x.mtx.gz", "x.npy", "x.txt", "x.petsc", "x"}) {
        CAPTURE(name);
        const auto whole = folder.file(std::string("whole_") + name);
        save_vector<double>(whole, std::span<const double>(values), "solution");
        const auto part = folder.file(name);
        for (const auto& rows : {two, row_partition{{0, 0, 0, 7, 300000}}}) {
            testing::expect_none(with_drivers(
                groups_of(std::vector<int>(static_cast<std::size_t>(rows.ranks()), 1)),
                [&](const communicator& comm) {
                    const row_range own = rows.owned(comm.first_local());
                    const auto mine = load_local_vector<double>(comm, whole.string(), rows);
                    if (mine !=
                        std::vector<double>(values.begin() + own.begin, values.begin() + own.end))
                        throw std::runtime_error("other values");
                    save_local_vector<double>(comm, part, rows, mine, "solution");
                }));
            CHECK((contents_of(part) == contents_of(whole)));
        }
    }
    const auto sparse = folder.write(
        "sparse.mtx",
        "%%MatrixMarket matrix coordinate real general\n5 1 4\n5 1 1\n2 1 3\n5 1 .1\n1 1 -0\n");
    for (const std::string& path : {sparse.string(), test::golden("vector.npy.gz")}) {
        const auto expected = load_vector<double>(path);
        const row_partition rows = equal_rows(static_cast<std::int64_t>(expected.size()), 2);
        testing::expect_none(with_drivers(groups_of({1, 1}), [&](const communicator& comm) {
            const row_range own = rows.owned(comm.first_local());
            if (load_local_vector<double>(comm, path, rows) !=
                std::vector<double>(expected.begin() + own.begin, expected.begin() + own.end))
                throw std::runtime_error("other values");
        }));
    }
    const row_partition rows{{0, 3, 5}};
    for (const char* name : {"whole_x.mtx", "whole_x.npy", "whole_x.txt"})
        for (const auto& one : with_drivers(groups_of({1, 1}), [&](const communicator& comm) {
                 (void)load_local_vector<double>(comm, folder.file(name).string(), rows);
             }))
            CHECK(message_of<input_error>([&] {
                      if (one) std::rethrow_exception(one);
                  }) == folder.file(name).string() +
                            " has 300000 entries, the matrix 5 rows: they must agree");
    // A file that can't be written is an error of all drivers.
    for (const auto& one : with_drivers(groups_of({1, 1}), [&](const communicator& comm) {
             const std::vector<double> mine(
                 static_cast<std::size_t>(rows.owned(comm.first_local()).size()));
             save_local_vector<double>(comm, folder.file("no/x.mtx"), rows, mine);
         }))
        CHECK(message_of<input_error>([&] {
                  if (one) std::rethrow_exception(one);
              }).find("no/x.mtx") != std::string::npos);
}
