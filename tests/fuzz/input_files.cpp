// Feeds any bytes as a file of any format: it is refused by an input_error, or is a valid canonical
// matrix, or a vector.
#include <cstddef>
#include <cstdint>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/file_formats.hpp>
#include <krylith/tests/fuzz/support/require.hpp>

namespace {

using namespace krylith;

constexpr std::int64_t memory = 1 << 26; ///< bytes that a matrix may take

template <class T>
void read_as_matrix(const std::string& bytes) {
    files::input_file file = files::input_file::from_bytes(bytes, "fuzz");
    const auto read = recognise(file, file_content::matrix).functions<T>().read_matrix;
    if (read == nullptr) return;
    const csr_matrix<T> matrix = read(file, {.memory = memory});
    validate(matrix);
    const bool keeps_order = &recognise(file, file_content::matrix) == &file_format_rows::kcsr;
    fuzz::require(keeps_order || canonical(matrix), "a matrix is canonical");
}

template <class T>
void read_as_vector(const std::string& bytes) {
    files::input_file file = files::input_file::from_bytes(bytes, "fuzz");
    const auto read = recognise(file, file_content::vector).functions<T>().read_vector;
    if (read != nullptr) static_cast<void>(read(file, {.entries = 3}));
}

template <class Read>
void attempt(const Read& read) {
    try {
        read();
    } catch (const input_error&) {
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    attempt([&] { read_as_matrix<double>(bytes); });
    attempt([&] { read_as_matrix<float>(bytes); });
    attempt([&] { read_as_vector<double>(bytes); });
    attempt([&] { read_as_vector<float>(bytes); });
    return 0;
}
