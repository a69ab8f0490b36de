// What several tests of Matrix Market files use.
#pragma once

#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/matrix_market.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>

namespace krylith::test {

namespace banner {
inline const std::string real = "%%MatrixMarket matrix coordinate real general\n";
inline const std::string array = "%%MatrixMarket matrix array real general\n";
} // namespace banner

/// Why the text isn't read as a vector.
inline std::string vector_refusal(const std::string& text) {
    return message_of<input_error>(
        [&] { static_cast<void>(parse_vector_market<double>(text, "v.mtx")); });
}

} // namespace krylith::test
