#include <krylith/bench/spmspv/spmspv_measure.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include <krylith/bench/common/slope.hpp>
#include <krylith/bench/spmspv/given_vector.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/processor_seconds.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/spmspv/product.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

namespace {

using spmspv::kernel;
using spmspv::sparse_vector;
using spmspv::vector_form;

constexpr std::array wanted_forms = {vector_form::pairs, vector_form::dense};
constexpr int most_steps = 64;
/// A shorter time can't be measured: a call takes about as long.
constexpr double least_seconds = 5e-7;
/// A kernel so many times slower than the fastest is not timed again.
constexpr double hopeless = 6;

double quantile_of(std::vector<double> samples, double q) {
    const auto place = static_cast<std::ptrdiff_t>(q * static_cast<double>(samples.size() - 1));
    std::nth_element(samples.begin(), samples.begin() + place, samples.end());
    return samples[static_cast<std::size_t>(place)];
}

template <class T>
T drawn(std::uint64_t seed, std::uint64_t place) {
    return static_cast<T>(0.5 + unit_interval(counter_hash(seed, place)));
}

template <class S, class M>
class semiring_subject final : public spmspv_subject {
    using T = typename S::value_type;

public:
    semiring_subject(const std::shared_ptr<device>& device, const csr_view<float>& matrix)
        : device_(device),
          values_(values_of(matrix)),
          a_(device, csr_view<M>(matrix.rows, matrix.columns, matrix.row_offsets,
                                 matrix.column_indices, values_)),
          y_(device, matrix.rows, S::absent()),
          scratch_(device) {
        values_ = {};
    }

    [[nodiscard]] const spmspv::matrix_features& features() const override { return a_.features(); }

    using spmspv_subject::measure;
    spmspv_numbers measure(const test_vector& pattern, const spmspv_effort& effort,
                           std::span<const kernel> kernels) override {
        std::vector<T> values(pattern.indices.size());
        for (std::size_t k = 0; k < values.size(); ++k) {
            values[k] = drawn<T>(7, k);
        }
        given_vector<T> x(device_, a_.columns(), S::absent(), pattern.indices, values,
                          pattern.ascending);
        spmspv_numbers numbers;
        numbers.kernels.assign(kernels.begin(), kernels.end());
        numbers.frontier_nonzeros = count(x, numbers);
        check(x, numbers);
        for (std::size_t given = 0; given < given_names.size(); ++given) {
            for (std::size_t wanted = 0; wanted < wanted_names.size(); ++wanted) {
                const auto seconds = time(x, static_cast<given_form>(given), wanted_forms[wanted],
                                          numbers.frontier_nonzeros, effort, kernels);
                for (std::size_t k = 0; k < kernels.size(); ++k) {
                    numbers.seconds[given][wanted][static_cast<std::size_t>(kernels[k])] =
                        seconds[k];
                }
            }
        }
        return numbers;
    }

private:
    static std::vector<M> values_of(const csr_view<float>& matrix) {
        std::vector<M> values(static_cast<std::size_t>(matrix.nnz()));
#pragma omp parallel for schedule(static)
        for (std::size_t k = 0; k < values.size(); ++k) {
            values[k] = drawn<M>(5, k);
        }
        return values;
    }

    void multiply(kernel k, given_vector<T>& x, vector_form wanted,
                  std::int64_t frontier_nonzeros) {
        spmspv::multiply<S>(k, a_, x.vector(), y_, scratch_, {.wanted = wanted}, frontier_nonzeros);
    }

    std::int64_t count(given_vector<T>& x, spmspv_numbers& numbers) {
        std::int64_t frontier_nonzeros = 0;
        std::vector<double> samples;
        for (int i = 0; i < 4; ++i) {
            x.give(given_form::pairs);
            device_->synchronize();
            const tool::stopwatch watch;
            frontier_nonzeros = spmspv::count_frontier_nonzeros(a_, x.vector());
            if (i > 0) {
                samples.push_back(watch.seconds());
            }
        }
        numbers.count_seconds = spread_of(samples).median;
        return frontier_nonzeros;
    }

    /// Checks each kernel, for each form given and wanted.
    void check(given_vector<T>& x, spmspv_numbers& numbers) {
        x.give(given_form::dense);
        multiply(kernel::spmv, x, vector_form::dense, numbers.frontier_nonzeros);
        const std::vector<T> expected = y_.download_dense();
        for (const kernel k : numbers.kernels) {
            const auto place = static_cast<std::size_t>(k);
            const std::size_t given = place % given_names.size();
            const std::size_t wanted = (place / 2) % wanted_names.size();
            x.give(static_cast<given_form>(given));
            multiply(k, x, wanted_forms[wanted], numbers.frontier_nonzeros);
            const std::int64_t row = first_difference(expected, y_.download_dense(), x.entries());
            if (row >= 0) {
                numbers.void_because.push_back(
                    fmt::format("{} from {} to {} differs from spmv in row {}", to_string(k),
                                given_names[given], wanted_names[wanted], row));
            }
        }
    }

    /// Returns the first place that differs, -1 for none. Sums of positive terms are within (terms)
    /// eps of the exact one.
    std::int64_t first_difference(const std::vector<T>& expected, const std::vector<T>& found,
                                  std::int64_t entries) const {
        double allowed = 0;
        if constexpr (!S::exact) {
            const double terms =
                std::min(a_.features().longest_row, static_cast<double>(entries)) + 4;
            allowed = 2 * terms * static_cast<double>(std::numeric_limits<T>::epsilon());
        }
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const bool same =
                expected[i] == found[i] ||
                std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i])) <=
                    allowed * std::abs(static_cast<double>(expected[i]));
            if (!same) {
                return static_cast<std::int64_t>(i);
            }
        }
        return expected.size() == found.size() ? -1 : 0;
    }

    double batch(int steps, bool processor_time, const std::function<void()>& step) {
        device_->synchronize();
        const double before = processor_time ? processor_seconds(*device_) : 0;
        const tool::stopwatch watch;
        for (int i = 0; i < steps; ++i) {
            step();
        }
        if (processor_time) {
            return processor_seconds(*device_) - before;
        }
        device_->synchronize();
        return watch.seconds();
    }

    /// Returns the seconds of each of the kernels.
    std::vector<double> time(given_vector<T>& x, given_form given, vector_form wanted,
                             std::int64_t frontier_nonzeros, const spmspv_effort& effort,
                             std::span<const kernel> kernels) {
        const auto give = [&] { x.give(given); };
        struct contest {
            int steps = 1;
            double spent = 0;
            std::vector<double> giving; ///< seconds a step
            std::vector<double> both;
            [[nodiscard]] double seconds(double q) const {
                return std::max(quantile_of(both, q) - quantile_of(giving, q), least_seconds);
            }
        };
        std::vector<contest> all(kernels.size());
        const auto run = [&](std::size_t k) {
            contest& c = all[k];
            c.giving.push_back(batch(c.steps, effort.processor_time, give) / c.steps);
            const double both = batch(c.steps, effort.processor_time, [&] {
                x.give(given);
                multiply(kernels[k], x, wanted, frontier_nonzeros);
            });
            c.both.push_back(both / c.steps);
            c.spent += both;
        };
        double fastest = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < all.size(); ++k) {
            run(k); // the first grows memory
            run(k);
            fastest = std::min(fastest, all[k].seconds(0));
        }
        for (auto& c : all) {
            const double first = c.seconds(0);
            if (first > hopeless * fastest) {
                continue; // two are enough
            }
            c = {};
            c.steps = static_cast<int>(
                std::clamp(effort.batch / first, 1.0, static_cast<double>(most_steps)));
        }
        const auto enough = [&](const contest& c) {
            const auto done = static_cast<int>(c.both.size());
            return (c.spent > 0 && c.steps == 1 && c.seconds(0) > hopeless * fastest) ||
                   done >= 10 * effort.repetitions ||
                   (done >= effort.repetitions && c.spent >= effort.seconds);
        };
        for (bool any = true; any;) {
            any = false;
            for (std::size_t k = 0; k < all.size(); ++k) {
                if (all[k].both.empty() || !enough(all[k])) {
                    run(k);
                    any = true;
                }
            }
        }
        std::vector<double> seconds(all.size());
        for (std::size_t k = 0; k < all.size(); ++k) {
            seconds[k] = all[k].seconds(effort.quantile);
        }
        return seconds;
    }

    std::shared_ptr<device> device_;
    std::vector<M> values_;
    spmspv::csr_csc_pair<M> a_;
    sparse_vector<T> y_;
    spmspv::product_scratch scratch_;
};

template <class M>
std::unique_ptr<spmspv_subject> make_subject(const std::shared_ptr<device>& device,
                                             const csr_view<float>& matrix,
                                             const std::string& semiring) {
    if (semiring == "plus-times") {
        return std::make_unique<semiring_subject<spmspv::plus_times<M>, M>>(device, matrix);
    }
    if (semiring == "plus-second") {
        return std::make_unique<semiring_subject<spmspv::plus_second<M>, M>>(device, matrix);
    }
    if (semiring == "or-and") {
        return std::make_unique<semiring_subject<spmspv::or_and<M>, M>>(device, matrix);
    }
    if (semiring == "min-plus") {
        return std::make_unique<semiring_subject<spmspv::min_plus<M>, M>>(device, matrix);
    }
    if (semiring == "min-column") {
        return std::make_unique<semiring_subject<spmspv::min_column, M>>(device, matrix);
    }
    throw usage_error("unknown semiring '" + semiring +
                      "'; allowed are plus-times, plus-second, or-and, min-plus, min-column");
}

} // namespace

void spmspv_effort::check() const {
    if (repetitions < 1) {
        throw usage_error(
            fmt::format("measuring effort: repetitions are {}, must be at least 1", repetitions));
    }
    if (!(seconds >= 0) || !(batch >= 0)) {
        throw usage_error(fmt::format(
            "measuring effort: seconds are {} and those of a batch {}, must be 0 or more", seconds,
            batch));
    }
    if (!(quantile >= 0 && quantile <= 1)) {
        throw usage_error(
            fmt::format("measuring effort: the quantile is {}, must be 0 to 1", quantile));
    }
}

spmspv_numbers spmspv_subject::measure(const test_vector& x, const spmspv_effort& effort) {
    std::array<kernel, spmspv::kernel_count> all{};
    for (std::size_t k = 0; k < all.size(); ++k) {
        all[k] = static_cast<kernel>(k);
    }
    return measure(x, effort, all);
}

std::unique_ptr<spmspv_subject> make_subject(const std::shared_ptr<device>& device,
                                             const csr_view<float>& matrix,
                                             const std::string& semiring,
                                             const std::string& precision) {
    if (precision == "fp32") {
        return make_subject<float>(device, matrix, semiring);
    }
    if (precision == "fp64") {
        return make_subject<double>(device, matrix, semiring);
    }
    throw usage_error("unknown precision '" + precision + "'; allowed are fp32, fp64");
}

} // namespace krylith::bench
