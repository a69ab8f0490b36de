#include <krylith/spmv/cost/iteration_model.hpp>

#include <krylith/distributed/source/scattered_entries.hpp>

namespace krylith {

namespace {

/// Seconds before the first ghost arrives, beside the time that the ghosts' bytes take.
constexpr double ghost_latency = 1e-6;
/// One block sums a row, while a hundred and more blocks share a device.
constexpr double blocks = 100;
/// Bytes that a sender reads for an entry of its send list: the list's entry and a sector of 32.
constexpr double listed_bytes = 12 + sector_bytes;
constexpr int dependent_phases = 3;
/// Bytes for an entry of x that no nearby row needs: a sector, and 8 because formats find no
/// shorter form for its column, while the rate of products is measured with a stencil. Products of
/// web, kron and random matrices on four H200 took 5% less to 11% more.
constexpr double alone_bytes = sector_bytes + 8;

double real(std::int64_t count) {
    return static_cast<double>(count);
}

} // namespace

iteration_model::iteration_model(const pattern_statistics& statistics, const machine_rates& rates,
                                 double redundant)
    : statistics_(statistics),
      rates_(rates),
      redundant_(redundant),
      value_(real(statistics.value_bytes)),
      rows_(real(statistics.rows())),
      phases_(dependent_phases * phase()) {}

double iteration_model::phase() const {
    return rates_.phase_on(static_cast<int>(statistics_.parts.size()));
}

double iteration_model::entry(const part& device) const {
    return value_ + 4 + alone_bytes * device.scattered;
}

double iteration_model::product(const part& device) const {
    const double bytes = entry(device) * real(device.nonzeros) +
                         value_ * (2 * real(device.rows) + real(device.ghosts));
    return bytes / rates_.product;
}

double iteration_model::row_of(std::int64_t nonzeros) const {
    return (value_ + 4) * real(nonzeros) * blocks / rates_.product;
}

double iteration_model::products() const {
    return std::max(longest_row(), slowest([&](const part& device) { return product(device); }));
}

double iteration_model::all_others(const part& device) const {
    return value_ * (rows_ - real(device.rows)) / rates_.stores;
}

double iteration_model::owned_vectors(const part& device) const {
    return (8 * value_ * real(device.rows) + listed_bytes * real(device.sent)) / rates_.copy;
}

double iteration_model::late_ghosts(const part& device, double interior_product) const {
    if (device.ghosts == 0) return 0.0;
    return ghost_latency + value_ * real(device.ghosts) / rates_.stores - interior_product;
}

} // namespace krylith
