#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/csr.hpp>

int main() {
    const krylith::csr_matrix<double> good{2, 2, {0, 1, 2}, {0, 1}, {2.0, 3.0}};
    const krylith::csr_matrix<double> bad{2, 2, {0, 1, 2}, {0, 7}, {2.0, 3.0}};
    krylith::validate(good);
    try {
        krylith::validate(bad);
    } catch (const krylith::input_error&) {
        return krylith::diagonal(good)[1] == 3.0 ? 0 : 1;
    }
    return 1;
}
