// Matrices and vectors in files, of which each driver of a communicator reads and writes its share.
//
//     const own_rows<double> mine = load_rows<double>(comm, "mine.kcsr");
//     const distributed_csr<double> matrix(comm, mine.parts(comm), mine.columns);
//     const auto a = make_operator(matrix);
//     auto b = a->make_range_vector();
//     auto x = a->make_domain_vector();
//     b.upload_local(load_local_vector<double>(comm, "b.npy", mine.rows));
//     const solve_result result = cg(*a, b, x);
//     std::vector<double> found(static_cast<std::size_t>(x.local_rows().size()));
//     x.download_local(found);
//     save_local_vector<double>(comm, "x.npy", mine.columns, found);
//
// All functions are collective, and what one driver finds wrong all throw: of flaws in a file the
// one that a single reader would meet first. With one driver they do what those of matrix/load.hpp
// do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/files/file_report.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// The rows of a driver's local ranks, in host memory.
template <class T>
struct own_rows {
    /// They lie one rank after the other; the columns are those of the whole matrix.
    csr_matrix<T> matrix;
    row_partition rows;        ///< of all ranks
    row_partition columns;     ///< the same of a square matrix, else equal ranges
    std::int64_t nonzeros = 0; ///< of the whole matrix

    /// [ranks] what operators and a distributed_csr are made of, which refers to the arrays here.
    [[nodiscard]] std::vector<csr_part<T>> parts(const communicator& comm) const;
};

/// Loads what load_matrix() loads, and cuts it as make_operator() of the whole matrix would whose
/// operator_options::block_size is the same: the rows have the same bits. Of a .kcsr file each
/// driver reads and checks the bytes of its rows; of a plain Matrix Market file an equal part of
/// the text, whose entries go to the drivers that own their rows, which takes up to 48 bytes for
/// each of a driver's entries (fp64) while it works. Other files, and what the gallery makes, each
/// driver reads whole before it drops the rows of others; gzipped Matrix Market text is read by the
/// driver of rank 0 alone, which then holds 16 bytes for each entry of the file. Standard input
/// ("-") is for one driver. Throws what load_matrix() throws, and input_error for sizes that ranks
/// can't have. `options.report` is that of the whole file.
template <class T>
[[nodiscard]] own_rows<T> load_rows(const communicator& comm, std::string_view name,
                                    const load_options& options = {}, int block_size = 1);

/// The same of a matrix that each driver has whole.
template <class T>
[[nodiscard]] own_rows<T> take_rows(const communicator& comm, csr_matrix<T> whole,
                                    int block_size = 1);

/// Loads what load_vector() loads, and returns the entries that the local ranks own, as
/// vector::upload_local() takes them. Each driver reads its part of a Matrix Market file and of
/// NumPy's array that are not gzipped; others are read by the driver of rank 0, which has all
/// entries meanwhile, and deals them out in pieces of a MiB. Throws what load_vector() throws, and
/// input_error for a vector of another length.
template <class T>
[[nodiscard]] std::vector<T> load_local_vector(const communicator& comm, std::string_view name,
                                               const row_partition& rows);

/// Writes what save_vector() would write of the whole vector, the same bytes. `values` are the
/// entries of the local ranks, which travel to the driver of rank 0 in pieces of a MiB: no driver
/// has all of them. Throws what save_vector() throws, and usage_error for another number of values.
template <class T>
void save_local_vector(const communicator& comm, const std::filesystem::path& path,
                       const row_partition& rows, std::span<const T> values,
                       std::string_view comment = {});

} // namespace krylith
