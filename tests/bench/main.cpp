#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <krylith/spmv/machine_rates.hpp>
#include <krylith/spmv/tuning/mocked_rates.hpp>

int main(int count, char** words) {
    const krylith::mocked_rates fixed(krylith::h200_rates()); // nothing is measured or kept
    return doctest::Context(count, words).run();
}
