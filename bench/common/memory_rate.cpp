#include <krylith/bench/common/memory_rate.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <krylith/bench/common/slope.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

namespace {

/// The size of each of two arrays, far above any cache.
constexpr std::size_t array_bytes = std::size_t{1} << 30;
constexpr slope_effort effort{.warm_up = 2,
                              .iterations = 4,
                              .repetitions = 5,
                              .most = 20,
                              .seconds = 0.2,
                              .warm_up_seconds = 0.1};

double copy_rate(const device_group& group) {
    const buffer<char> from(group.handle(0), array_bytes, "copy rate");
    const buffer<char> to(group.handle(0), array_bytes, "copy rate");
    group[0].zero(from.data(), array_bytes);
    const auto seconds = measure_slope(
        [&](std::int64_t copies) {
            group.synchronize();
            const tool::stopwatch watch;
            for (std::int64_t i = 0; i < copies; ++i) {
                group[0].copy(to.data(), from.data(), array_bytes);
            }
            group.synchronize();
            return watch.seconds();
        },
        effort);
    return 2.0 * array_bytes / seconds.median;
}

/// Arrays of all threads, since a host device's copy is one thread's.
class host_arrays {
public:
    host_arrays() {
        resize_in_parallel(from_, size);
        resize_in_parallel(to_, size);
    }

    [[nodiscard]] double copy_rate() {
        return 2.0 * array_bytes / seconds_of([&] {
#pragma omp parallel for simd schedule(static)
                   for (std::size_t i = 0; i < size; ++i) {
                       to_[i] = from_[i];
                   }
               });
    }

    [[nodiscard]] double read_rate() {
        return 2.0 * array_bytes / seconds_of([&] {
                   double sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
                   for (std::size_t i = 0; i < size; ++i) {
                       sum += from_[i] * to_[i];
                   }
                   sink_ = sum;
               });
    }

private:
    static constexpr std::size_t size = array_bytes / sizeof(double);

    template <class Pass>
    static double seconds_of(const Pass& pass) {
        const auto passes = [&](std::int64_t count) {
            const tool::stopwatch watch;
            for (std::int64_t i = 0; i < count; ++i) {
                pass();
            }
            return watch.seconds();
        };
        return measure_slope(passes, effort).median;
    }

    std::vector<double> from_;
    std::vector<double> to_;
    volatile double sink_ = 0; // keeps the compiler from dropping the sum
};

/// The bytes a second by the data sheet, 0 for a GPU that is not listed.
double data_sheet(const std::string& description) {
    struct entry {
        const char* name;
        double rate;
    };
    for (const auto& [name, rate] : {entry{"H200", 4.8e12}, entry{"H100 80GB HBM3", 3.35e12},
                                     entry{"A100-SXM4-80GB", 2.04e12}}) {
        if (description.find(name) != std::string::npos) {
            return rate;
        }
    }
    return 0;
}

} // namespace

memory_rate measure_memory_rate(const device_choice& choice, double given) {
    memory_rate rate;
    if (choice.kind == backend::host) {
        host_arrays arrays;
        rate.copy = arrays.copy_rate();
        rate.limit = arrays.read_rate();
        rate.shared = true;
    } else {
        const device_group one = choice.group(1);
        rate.copy = copy_rate(one);
        rate.limit = data_sheet(one[0].description());
    }
    if (given > 0) {
        rate.limit = given * 1e12;
    } else if (rate.limit == 0) {
        rate.limit = rate.copy;
    }
    return rate;
}

std::string in_words(const device_choice& choice, const memory_rate& rate) {
    const std::string device = descriptions(choice.group(1)).front();
    if (!rate.known()) {
        return device;
    }
    return fmt::format("{}; copy {:.1f} GB/s, limit {:.1f} GB/s {}", device, rate.copy * 1e-9,
                       rate.limit * 1e-9, rate.shared ? "in all" : "a device");
}

} // namespace krylith::bench
