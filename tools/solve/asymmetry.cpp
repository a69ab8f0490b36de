#include <krylith/tools/solve/asymmetry.hpp>

#include <fmt/format.h>

namespace krylith::tool {

template <class T>
std::string asymmetry(const csr_matrix<T>& matrix) {
    const auto found = measure_symmetry(csr_view<T>(matrix)).first_difference;
    if (!found) return {};
    return fmt::format("the matrix is not symmetric: {}", in_words(*found));
}

std::string in_words(const mirrored_entry& entry) {
    return fmt::format("entry ({}, {}) is {:g}, its mirror {:g} (counted from 1)", entry.row + 1,
                       entry.column + 1, entry.here, entry.there);
}

template std::string asymmetry(const csr_matrix<double>&);
template std::string asymmetry(const csr_matrix<float>&);

} // namespace krylith::tool
