// Vectors that the command line names: --rhs, --x, --x0, --y.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/distributed/local_files.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/types/dense_columns.hpp>

namespace krylith::tool {

/// "ones"; "row-sums", which is A times ones, so that the solution is known; "random:SEED", uniform
/// in [-1, 1), each entry a function of SEED and its place; "range:SEED", which is A times
/// random:SEED, so that there is a solution even if A is singular; or a file, "-" for standard
/// input.
struct vector_source {
    enum class form { ones, row_sums, range, random, file };
    form what = form::ones;
    std::uint64_t seed = 0;
    std::string path;
};

/// What the options show as their type.
inline constexpr const char* vector_source_forms = "ones|row-sums|range:SEED|random:SEED|FILE|-";

/// The path is that of a file, else empty. Throws usage_error for a wrong seed; `option` is named
/// in messages.
[[nodiscard]] vector_source parse_vector_source(const std::string& option, const std::string& text);

/// `matrix.rows` entries. Throws input_error for a file that can't be read or has another length.
template <class T>
[[nodiscard]] std::vector<T> make_values(const vector_source& source, const csr_matrix<T>& matrix);

/// Those of the rows that a process has. Collective.
template <class T>
[[nodiscard]] std::vector<T>
make_local_values(const communicator& comm, const vector_source& source, const own_rows<T>& mine);

/// The same as one column, or the columns of a file that has several.
template <class T>
[[nodiscard]] dense_columns<T> make_right_hand_sides(const vector_source& source,
                                                     const csr_matrix<T>& matrix);

/// `matrix.columns` entries. Throws the same, and usage_error naming `option` for row-sums and
/// range:SEED of a matrix that is not square: these have an entry a row.
template <class T>
[[nodiscard]] std::vector<T> make_column_values(const std::string& option,
                                                const vector_source& source,
                                                const csr_matrix<T>& matrix);

} // namespace krylith::tool
