#include <krylith/matrix/numpy/open_array.hpp>

#include <algorithm>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/input_checks.hpp>

namespace krylith::numpy {

template <class T>
std::vector<T> read_vector(const open_array& array, const std::string& file) {
    const auto& shape = array.header.shape;
    const auto long_ones = std::ranges::count_if(shape, [](auto size) { return size != 1; });
    if (shape.size() > 2 || long_ones > 1) {
        throw input_error(file + ": " + array.header.name + " has shape " + in_words(shape) +
                          ", allowed for a vector are (n,), (n, 1) and (1, n)");
    }
    files::check_memory(file, static_cast<double>(array.header.count) * sizeof(T));
    std::vector<T> vector;
    files::read_numbers(array.bytes, array.header.numbers(file), vector);
    return vector;
}

template std::vector<double> read_vector(const open_array&, const std::string&);
template std::vector<float> read_vector(const open_array&, const std::string&);

} // namespace krylith::numpy
