#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include <krylith/spmv/machine_rates.hpp>
#include <krylith/spmv/tuning/mocked_rates.hpp>

// What `auto` takes must not hang on how busy this machine is: rates are fixed (tests of measuring
// call measure() itself). What commands that tests start keep is where nobody minds.
int main(int count, char** words) {
    const auto folder = std::filesystem::temp_directory_path() / "krylith-tests";
    setenv("KRYLITH_CACHE", folder.c_str(), 0); // NOLINT(concurrency-mt-unsafe): one thread yet
    const krylith::mocked_rates fixed(krylith::h200_rates());
    return doctest::Context(count, words).run();
}
