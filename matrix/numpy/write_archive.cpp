#include <limits>
#include <vector>

#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/numpy/array_file.hpp>
#include <krylith/matrix/numpy/sparse_archive.hpp>
#include <krylith/matrix/numpy/zip_writer.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::numpy {
namespace {

template <class Number>
void add(zip_writer& archive, std::string_view name, std::span<const Number> numbers) {
    const std::string header =
        array_header_text(type_name<Number>(), '(' + std::to_string(numbers.size()) + ",)");
    archive.add(name, std::as_bytes(std::span(header)), std::as_bytes(numbers));
}

template <class To, class From>
std::vector<To> converted(std::span<const From> numbers) {
    std::vector<To> result;
    resize_in_parallel(result, numbers.size());
    const auto count = static_cast<std::int64_t>(numbers.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < count; ++k) {
        result[as_size(k)] = static_cast<To>(numbers[as_size(k)]);
    }
    return result;
}

} // namespace

template <class T>
void write_sparse_archive(const std::filesystem::path& path, const csr_view<T>& matrix,
                          std::string_view) {
    zip_writer archive(path);
    // SciPy has one type of indices in a matrix, and copies arrays that don't agree.
    if (matrix.nnz() <= std::numeric_limits<std::int32_t>::max()) {
        add<std::int32_t>(archive, "indices.npy", matrix.column_indices);
        const auto offsets = converted<std::int32_t>(matrix.row_offsets);
        add<std::int32_t>(archive, "indptr.npy", offsets);
    } else {
        const auto columns = converted<std::int64_t>(matrix.column_indices);
        add<std::int64_t>(archive, "indices.npy", columns);
        add<std::int64_t>(archive, "indptr.npy", matrix.row_offsets);
    }
    const std::string format = array_header_text("|S3", "()");
    archive.add("format.npy", std::as_bytes(std::span(format)),
                std::as_bytes(std::span(std::string_view("csr"))));
    const std::vector<std::int64_t> shape = {matrix.rows, matrix.columns};
    add<std::int64_t>(archive, "shape.npy", shape);
    add<T>(archive, "data.npy", matrix.values);
    archive.close();
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void write_sparse_archive(const std::filesystem::path&, const csr_view<T>&,           \
                                       std::string_view);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::numpy
