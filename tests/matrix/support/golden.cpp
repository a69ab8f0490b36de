#include <krylith/tests/matrix/support/golden.hpp>

namespace krylith::test {

std::string golden(const std::string& name) {
    return std::string(KRYLITH_GOLDEN_FOLDER "/") + name;
}

} // namespace krylith::test
