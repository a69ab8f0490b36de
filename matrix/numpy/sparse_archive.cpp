#include <krylith/matrix/numpy/sparse_archive.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/matrix/compressed/canonical_rows.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/files/input_checks.hpp>
#include <krylith/matrix/market/diagnosis.hpp>
#include <krylith/matrix/numpy/archive_members.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::numpy {
namespace {

/// The reading of one archive.
template <class T>
class matrix_reader {
public:
    matrix_reader(const binary::byte_source& file, const load_options& options)
        : file_(file), options_(options), members_(file) {}

    csr_matrix<T> read() {
        read_format();
        read_shape();
        csr_matrix<T> matrix = format_ == "coo"   ? read_coo()
                               : format_ == "csc" ? read_csc()
                                                  : read_compressed(rows_, columns_, 1);
        report_.layout = "scipy.sparse " + format_;
        report_.symmetry = "general";
        report_.duplicates += make_canonical(matrix);
        if (options_.report != nullptr) {
            *options_.report = std::move(report_);
        }
        return matrix;
    }

private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw input_error(file_.name + ": " + what);
    }

    void read_format() {
        format_ = members_.read_text("format");
        constexpr std::array<std::string_view, 3> known = {"csr", "csc", "coo"};
        if (std::ranges::find(known, format_) == known.end()) {
            refuse("a matrix of SciPy's format " + market::quoted(format_) +
                   ", allowed are csr, csc and coo (in SciPy: save_npz(FILE, A.tocsr()))");
        }
    }

    void read_shape() {
        const std::vector<std::int64_t> shape = members_.read_sizes("shape");
        if (shape.size() != 2) {
            refuse("shape.npy has " + std::to_string(shape.size()) +
                   " sizes, allowed are 2: rows and columns");
        }
        rows_ = shape[0];
        columns_ = shape[1];
        check_index_size(file_.name + ": columns", columns_);
        if (format_ != "csr") {
            check_index_size(file_.name + ": rows", rows_);
        }
    }

    /// Arrays that belong together have as many entries each. Returns how many.
    std::int64_t check_counts(const open_array& indices, const open_array& values) const {
        if (indices.header.count != values.header.count) {
            refuse(indices.header.name + " has " + std::to_string(indices.header.count) +
                   " entries, " + values.header.name + " " + std::to_string(values.header.count) +
                   ", allowed are as many");
        }
        return static_cast<std::int64_t>(values.header.count);
    }

    void read_values(const open_array& array, std::vector<T>& values) {
        files::read_numbers(array.bytes, array.header.numbers(file_.name), values);
        report_.field = array.header.type;
        report_.entries = static_cast<std::int64_t>(array.header.count);
    }

    void read_indices(const open_array& array, std::vector<std::int32_t>& indices,
                      std::int64_t limit) const {
        files::read_numbers(array.bytes, array.header.numbers(file_.name), indices, limit - 1);
    }

    /// The matrix, or, for csc, the transposed one: its offsets are those of `major` rows.
    csr_matrix<T> read_compressed(std::int64_t major, std::int64_t minor, int copies) {
        const auto arrays = members_.open({"indptr", "indices", "data"});
        const std::int64_t entries = check_counts(arrays[1], arrays[2]);
        if (arrays[0].header.count != static_cast<std::uint64_t>(major) + 1) {
            refuse("indptr.npy has " + std::to_string(arrays[0].header.count) +
                   " entries, allowed are " + std::to_string(major) + " + 1, as " + format_ +
                   " of that shape has");
        }
        files::check_memory(file_.name,
                            copies * files::csr_bytes(std::max(rows_, major), entries, sizeof(T)),
                            options_.memory);
        csr_matrix<T> matrix;
        matrix.rows = major;
        matrix.columns = minor;
        files::read_numbers(arrays[0].bytes, arrays[0].header.numbers(file_.name),
                            matrix.row_offsets, entries);
        read_indices(arrays[1], matrix.column_indices, minor);
        read_values(arrays[2], matrix.values);
        // SciPy allows arrays that are longer than the last offset says.
        const auto used = as_size(matrix.row_offsets.back());
        matrix.column_indices.resize(used);
        matrix.values.resize(used);
        files::validate_input(file_.name, csr_view<T>(matrix));
        return matrix;
    }

    csr_matrix<T> read_csc() {
        csr_matrix<T> transposed = read_compressed(columns_, rows_, 2);
        files::check_rows(file_.name, rows_, transposed.nnz(), options_.memory);
        return transpose(transposed);
    }

    csr_matrix<T> read_coo() {
        const auto arrays = members_.open({"row", "col", "data"});
        const std::int64_t entries = check_counts(arrays[0], arrays[2]);
        check_counts(arrays[1], arrays[2]);
        files::check_rows(file_.name, rows_, entries, options_.memory);
        files::check_memory(file_.name, 2.5 * files::csr_bytes(rows_, entries, sizeof(T)),
                            options_.memory);
        coo_matrix<T> coo{rows_, columns_};
        read_indices(arrays[0], coo.row_indices, rows_);
        read_indices(arrays[1], coo.column_indices, columns_);
        read_values(arrays[2], coo.values);
        csr_matrix<T> matrix = to_csr(coo);
        report_.duplicates = entries - matrix.nnz();
        return matrix;
    }

    const binary::byte_source& file_;
    const load_options& options_;
    archive_members members_;
    file_report report_;
    std::string format_;
    std::int64_t rows_ = 0;
    std::int64_t columns_ = 0;
};

/// Gives the array of an archive of one to read(array).
template <class Read>
auto of_only_array(files::input_file& file, const Read& read) {
    const binary::byte_source bytes = file.bytes();
    const archive_members members(bytes);
    if (members.all().size() != 1) {
        throw input_error(file.name() + ": an archive of " + std::to_string(members.all().size()) +
                          " arrays, allowed for a vector is one");
    }
    std::string name = members.all().front().name;
    name.resize(name.size() - (name.ends_with(".npy") ? 4 : 0));
    return read(members.open({name}).front());
}

} // namespace

template <class T>
csr_matrix<T> read_sparse_archive(files::input_file& file, const load_options& options) {
    const binary::byte_source bytes = file.bytes();
    return matrix_reader<T>(bytes, options).read();
}

template <class T>
std::vector<T> read_vector_archive(files::input_file& file, const vector_options&) {
    return of_only_array(
        file, [&](const open_array& array) { return read_vector<T>(array, file.name()); });
}

template <class T>
dense_columns<T> read_columns_archive(files::input_file& file, const vector_options& options) {
    return of_only_array(file, [&](const open_array& array) {
        return read_columns<T>(array, file.name(), options.entries);
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> read_sparse_archive(files::input_file&, const load_options&);           \
    template std::vector<T> read_vector_archive(files::input_file&, const vector_options&);        \
    template dense_columns<T> read_columns_archive(files::input_file&, const vector_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::numpy
