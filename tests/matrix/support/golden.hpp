// Files that other programs wrote (tests/matrix/golden/make_golden.py), and the matrix in them.
#pragma once

#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>

namespace krylith::test {

/// The path of a file of tests/matrix/golden/.
[[nodiscard]] std::string golden(const std::string& name);

/// A of make_golden.py.
template <class T>
[[nodiscard]] csr_matrix<T> golden_matrix() {
    return {3, 4, {0, 2, 3, 5}, {0, 2, 1, 0, 3}, {1, T(2.5), -3, 4, T(0.001)}};
}

/// b of make_golden.py.
[[nodiscard]] inline std::vector<double> golden_vector() {
    return {0.1, -2, 3e300};
}

/// Why a file isn't read as a matrix.
[[nodiscard]] inline std::string load_refusal(const std::string& path) {
    return message_of<input_error>([&] { static_cast<void>(load_matrix<double>(path)); });
}

} // namespace krylith::test
