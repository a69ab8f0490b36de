#include <krylith/matrix/files/file_formats.hpp>
#include <krylith/matrix/number_list/read_list.hpp>

namespace krylith {

namespace {

/// Any text could be a list: it is what is left when no other format is recognised.
bool by_name_alone(std::string_view) {
    return false;
}

template <class T>
constexpr file_functions<T> number_list_functions = {.read_matrix = nullptr,
                                                     .read_vector = number_list::read_list<T>,
                                                     .write_matrix = nullptr,
                                                     .write_vector = number_list::write_list<T>};

} // namespace

constinit const file_format file_format_rows::number_list = {
    .name = "a list of numbers",
    .endings = name_list{".txt"},
    .gzipped = true,
    .recognises = by_name_alone,
    .fp64 = number_list_functions<double>,
    .fp32 = number_list_functions<float>,
};

} // namespace krylith
