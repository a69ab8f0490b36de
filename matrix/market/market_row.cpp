#include <algorithm>

#include <krylith/matrix/files/file_formats.hpp>
#include <krylith/matrix/market/reader.hpp>
#include <krylith/matrix/matrix_market.hpp>

namespace krylith {

namespace {

/// A banner, maybe a misspelt one: no other format begins so. Behind blanks it is spelt right, as
/// MUMPS does: else it could be the comment of a list of numbers.
bool is_market(std::string_view beginning) {
    const std::size_t blanks = std::min(beginning.find_first_not_of(" \t"), beginning.size());
    return beginning.substr(blanks).starts_with(blanks == 0 ? "%%" : "%%MatrixMarket");
}

template <class T>
csr_matrix<T> read_market_matrix(files::input_file& file, const load_options& options) {
    return market::read_matrix<T>(market::line_source::from_input(file), options);
}

template <class T>
std::vector<T> read_market_vector(files::input_file& file, const vector_options&) {
    return market::read_vector<T>(market::line_source::from_input(file), {});
}

template <class T>
dense_columns<T> read_market_columns(files::input_file& file, const vector_options&) {
    return market::read_columns<T>(market::line_source::from_input(file));
}

template <class T>
constexpr file_functions<T> market_functions = {.read_matrix = read_market_matrix<T>,
                                                .read_vector = read_market_vector<T>,
                                                .write_matrix = write_matrix_market<T>,
                                                .write_vector = write_vector_market<T>,
                                                .read_columns = read_market_columns<T>,
                                                .write_columns = write_columns_market<T>};

} // namespace

constinit const file_format file_format_rows::market = {
    .name = "Matrix Market",
    .endings = name_list{".mtx"},
    .gzipped = true,
    .recognises = is_market,
    .fp64 = market_functions<double>,
    .fp32 = market_functions<float>,
};

} // namespace krylith
