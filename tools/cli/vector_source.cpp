#include <krylith/tools/cli/vector_source.hpp>

#include <charconv>
#include <filesystem>
#include <numeric>
#include <string_view>
#include <system_error>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/matrix/load.hpp>

namespace krylith::tool {

namespace {

constexpr std::string_view random_prefix = "random:";
constexpr std::string_view range_prefix = "range:";

template <class T>
std::vector<T> row_sums(const csr_matrix<T>& matrix) {
    std::vector<T> sums;
    sums.reserve(static_cast<std::size_t>(matrix.rows));
    for (std::size_t row = 0; row + 1 < matrix.row_offsets.size(); ++row)
        sums.push_back(static_cast<T>(
            std::accumulate(matrix.values.begin() + matrix.row_offsets[row],
                            matrix.values.begin() + matrix.row_offsets[row + 1], 0.0)));
    return sums;
}

/// An entry of a random vector.
template <class T>
T random_value(std::uint64_t seed, std::uint64_t place) {
    return static_cast<T>(2 * unit_interval(counter_hash(seed, place)) - 1);
}

/// Those from `first` on.
template <class T>
std::vector<T> random_values(std::uint64_t seed, std::size_t n, std::uint64_t first = 0) {
    std::vector<T> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = random_value<T>(seed, first + i);
    return values;
}

/// A times the random vector, each row summed in double.
template <class T>
std::vector<T> random_image(const csr_matrix<T>& matrix, std::uint64_t seed) {
    std::vector<T> y;
    y.reserve(static_cast<std::size_t>(matrix.rows));
    for (std::size_t row = 0; row + 1 < matrix.row_offsets.size(); ++row) {
        double sum = 0;
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[row]);
             k < static_cast<std::size_t>(matrix.row_offsets[row + 1]); ++k)
            sum += static_cast<double>(matrix.values[k]) *
                   static_cast<double>(
                       random_value<T>(seed, static_cast<std::uint64_t>(matrix.column_indices[k])));
        y.push_back(static_cast<T>(sum));
    }
    return y;
}

std::uint64_t parse_seed(const std::string& option, const std::string& text,
                         std::string_view prefix) {
    const char* end = text.data() + text.size();
    std::uint64_t seed = 0;
    const auto [stop, code] = std::from_chars(text.data() + prefix.size(), end, seed);
    if (code != std::errc() || stop != end)
        throw usage_error(option + " is '" + text + "': the SEED of " + std::string(prefix) +
                          "SEED is a whole number from 0 to 2^64 - 1");
    return seed;
}

template <class T>
std::vector<T> file_values(const std::string& path, std::size_t n, const char* what) {
    std::vector<T> values = load_vector<T>(path, static_cast<std::int64_t>(n));
    if (values.size() != n)
        throw input_error((path == "-" ? "standard input" : path) + " has " +
                          std::to_string(values.size()) + " entries, the matrix " +
                          std::to_string(n) + " " + what + ": they must agree");
    return values;
}

} // namespace

vector_source parse_vector_source(const std::string& option, const std::string& text) {
    if (text == "ones") return {vector_source::form::ones, 0, {}};
    if (text == "row-sums") return {vector_source::form::row_sums, 0, {}};
    if (text.starts_with(random_prefix))
        return {vector_source::form::random, parse_seed(option, text, random_prefix), {}};
    if (text.starts_with(range_prefix))
        return {vector_source::form::range, parse_seed(option, text, range_prefix), {}};
    std::error_code ignored;
    if (text != "-" && !std::filesystem::exists(text, ignored))
        throw input_error(text + ": no such file; " + option +
                          " takes ones, row-sums, range:SEED, random:SEED, a file or - (standard "
                          "input)");
    return {vector_source::form::file, 0, text};
}

template <class T>
std::vector<T> make_values(const vector_source& source, const csr_matrix<T>& matrix) {
    const auto n = static_cast<std::size_t>(matrix.rows);
    switch (source.what) {
    case vector_source::form::row_sums: return row_sums(matrix);
    case vector_source::form::range: return random_image(matrix, source.seed);
    case vector_source::form::random: return random_values<T>(source.seed, n);
    case vector_source::form::file: return file_values<T>(source.path, n, "rows");
    case vector_source::form::ones: break;
    }
    return std::vector<T>(n, T(1));
}

template <class T>
std::vector<T> make_local_values(const communicator& comm, const vector_source& source,
                                 const own_rows<T>& mine) {
    if (source.what == vector_source::form::file)
        return load_local_vector<T>(comm, source.path, mine.rows);
    if (source.what != vector_source::form::random) return make_values(source, mine.matrix);
    const int first = comm.first_local();
    return random_values<T>(source.seed, static_cast<std::size_t>(mine.matrix.rows),
                            static_cast<std::uint64_t>(mine.rows.owned(first).begin));
}

template <class T>
dense_columns<T> make_right_hand_sides(const vector_source& source, const csr_matrix<T>& matrix) {
    if (source.what != vector_source::form::file)
        return {matrix.rows, 1, make_values(source, matrix)};
    dense_columns<T> b = load_columns<T>(source.path, matrix.rows);
    if (b.rows != matrix.rows)
        throw input_error((source.path == "-" ? "standard input" : source.path) + " has " +
                          std::to_string(b.rows) + (b.columns == 1 ? " entries" : " rows") +
                          ", the matrix " + std::to_string(matrix.rows) + " rows: they must agree");
    return b;
}

template <class T>
std::vector<T> make_column_values(const std::string& option, const vector_source& source,
                                  const csr_matrix<T>& matrix) {
    if (matrix.rows == matrix.columns) return make_values(source, matrix);
    const auto n = static_cast<std::size_t>(matrix.columns);
    switch (source.what) {
    case vector_source::form::row_sums:
    case vector_source::form::range:
        throw usage_error(option + " is " +
                          (source.what == vector_source::form::range ? "range:SEED" : "row-sums") +
                          ", which has an entry a row, " + std::to_string(matrix.rows) +
                          ", but must have one a column, " + std::to_string(n) +
                          ": allowed for this matrix are ones, random:SEED and a file");
    case vector_source::form::random: return random_values<T>(source.seed, n);
    case vector_source::form::file: return file_values<T>(source.path, n, "columns");
    case vector_source::form::ones: break;
    }
    return std::vector<T>(n, T(1));
}

template std::vector<double> make_column_values(const std::string&, const vector_source&,
                                                const csr_matrix<double>&);
template std::vector<float> make_column_values(const std::string&, const vector_source&,
                                               const csr_matrix<float>&);
template dense_columns<double> make_right_hand_sides(const vector_source&,
                                                     const csr_matrix<double>&);
template dense_columns<float> make_right_hand_sides(const vector_source&, const csr_matrix<float>&);
template std::vector<double> make_local_values(const communicator&, const vector_source&,
                                               const own_rows<double>&);
template std::vector<float> make_local_values(const communicator&, const vector_source&,
                                              const own_rows<float>&);
template std::vector<double> make_values(const vector_source&, const csr_matrix<double>&);
template std::vector<float> make_values(const vector_source&, const csr_matrix<float>&);

} // namespace krylith::tool
