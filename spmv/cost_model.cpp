#include <krylith/spmv/cost_model.hpp>

#include <algorithm>
#include <cstdlib>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

/// Seconds before the first ghost arrives, beside the time that the ghosts' bytes take.
constexpr double ghost_latency = 1e-6;
/// One block sums a row, while a hundred and more blocks share a device.
constexpr double blocks = 100;
/// Bytes that a sender reads for an entry of its send list: the list's entry and a sector of 32.
constexpr double listed_bytes = 12 + 32;
/// The fraction of the shorter of a product and its transfer that does not overlap with the longer:
/// 10% and more on matrices of 300 million nonzeros.
constexpr double exposed = 0.1;
constexpr int phases = 3;
/// The unit of memory accesses, in bytes.
constexpr double sector = 32;
/// Bytes for an entry of x that no nearby row needs: a sector, and 8 because formats find no
/// shorter form for its column, while the rate of products is measured with a stencil. Products of
/// web, kron and random matrices on four H200 took 5% less to 11% more.
constexpr double alone_bytes = sector + 8;

double real(std::int64_t count) {
    return static_cast<double>(count);
}

/// Returns the largest seconds(part) of all devices.
template <class Seconds>
double slowest(const pattern_statistics& s, Seconds seconds) {
    double most = 0;
    for (const auto& part : s.parts) most = std::max(most, seconds(part));
    return most;
}

class model {
public:
    model(const pattern_statistics& s, const machine_rates& rates)
        : s_(s),
          r_(rates),
          value_(real(s.value_bytes)),
          n_(real(s.rows())),
          wait_(phases * rates.phase_on(static_cast<int>(s.parts.size()))) {}

    [[nodiscard]] double halo() const {
        const double vectors = slowest(s_, [&](const auto& d) {
            return (8 * value_ * real(d.rows) + listed_bytes * real(d.sent)) / r_.copy;
        });
        const double hidden = slowest(s_, [&](const auto& d) {
            if (d.ghosts == 0) return 0.0;
            const double interior =
                1 - real(d.boundary_rows) / std::max(1.0, real(d.rows)); // fraction of its rows
            return ghost_latency + value_ * real(d.ghosts) / r_.stores - interior * product(d);
        });
        return products() + vectors + hidden + wait_;
    }

    [[nodiscard]] double allgather() const {
        return products() +
               slowest(s_,
                       [&](const auto& d) {
                           const double pass = value_ * real(d.rows) / r_.copy;
                           return 3 * pass + std::max(5 * pass, transfer(d));
                       }) +
               wait_;
    }

    [[nodiscard]] double replicated(double redundant) const {
        double nonzeros = 0;
        for (const auto& d : s_.parts) nonzeros += real(d.nonzeros);
        return slowest(s_,
                       [&](const auto& d) {
                           const double others =
                               entry(d) * (nonzeros - real(d.nonzeros)); // they count like its own
                           const double mine =
                               std::max(product(d) + redundant * others / r_.product, row());
                           const double sent = (1 - redundant) * transfer(d);
                           return std::max(mine, sent) + exposed * std::min(mine, sent);
                       }) +
               8 * value_ * n_ / r_.copy + wait_;
    }

private:
    /// Returns the bytes of a nonzero.
    [[nodiscard]] double entry(const pattern_statistics::part& d) const {
        return value_ + 4 + alone_bytes * d.scattered;
    }
    [[nodiscard]] double product(const pattern_statistics::part& d) const {
        const double bytes =
            entry(d) * real(d.nonzeros) + value_ * (2 * real(d.rows) + real(d.ghosts));
        return bytes / r_.product;
    }
    [[nodiscard]] double row() const {
        return (value_ + 4) * real(s_.longest_row) * blocks / r_.product;
    }
    [[nodiscard]] double products() const {
        return std::max(row(), slowest(s_, [&](const auto& d) { return product(d); }));
    }
    [[nodiscard]] double transfer(const pattern_statistics::part& d) const {
        return value_ * (n_ - real(d.rows)) / r_.stores;
    }

    const pattern_statistics& s_;
    const machine_rates& r_;
    double value_;
    double n_;
    double wait_;
};

/// Returns the fraction of scattered nonzeros in a sample of the rows.
double scattered_fraction(row_range rows, std::span<const std::int64_t> row_offsets,
                          std::span<const std::int32_t> column_indices, std::int64_t value_bytes) {
    constexpr std::int64_t samples = 256;
    constexpr std::int64_t most = 32;
    const auto near = static_cast<std::int32_t>(sector) / static_cast<std::int32_t>(value_bytes);
    const auto columns = [&](std::int64_t row) {
        const auto begin = row_offsets[as_size(row)];
        const auto end = std::min(row_offsets[as_size(row) + 1], begin + most);
        return column_indices.subspan(as_size(begin), as_size(end - begin));
    };
    std::int64_t tested = 0;
    std::int64_t alone = 0;
    const std::int64_t pairs = rows.size() - 1;
    for (std::int64_t k = 0; k < std::min(samples, pairs); ++k) {
        const std::int64_t row = rows.begin + (pairs <= samples ? k : pairs / samples * k);
        const auto next = columns(row + 1);
        for (const std::int32_t column : columns(row)) {
            ++tested;
            alone += std::ranges::none_of(next, [&](std::int32_t other) {
                return std::abs(std::int64_t{other} - column) < near;
            });
        }
    }
    return tested == 0 ? 0 : real(alone) / real(tested);
}

} // namespace

std::int64_t pattern_statistics::rows() const {
    std::int64_t sum = 0;
    for (const part& p : parts) sum += p.rows;
    return sum;
}

pattern_statistics measure_pattern(const halo_plan& plan, std::span<const std::int64_t> row_offsets,
                                   std::span<const std::int32_t> column_indices,
                                   const longest_row& longest, std::int64_t value_bytes) {
    pattern_statistics s;
    s.value_bytes = value_bytes;
    s.longest_row = longest.nonzeros;
    for (int part = 0; part < plan.rows.ranks(); ++part) {
        const row_range owned = plan.rows.owned(part);
        s.parts.push_back({owned.size(),
                           row_offsets[static_cast<std::size_t>(owned.end)] -
                               row_offsets[static_cast<std::size_t>(owned.begin)],
                           plan.ghost_count(part), plan.send_count(part),
                           owned.size() - plan.local[static_cast<std::size_t>(part)].interior_rows,
                           scattered_fraction(owned, row_offsets, column_indices, value_bytes)});
    }
    return s;
}

std::vector<prediction> predict(const pattern_statistics& statistics, const machine_rates& rates,
                                redundancy lra_rc) {
    check(rates);
    if (statistics.parts.empty())
        throw usage_error("predict: the statistics have no parts, must have one a device");
    if (!(lra_rc.fraction >= 0 && lra_rc.fraction <= 1))
        throw usage_error("predict: the redundant fraction is " + number_text(lra_rc.fraction) +
                          ", must be 0 to 1");
    const model m(statistics, rates);
    const auto devices = static_cast<int>(statistics.parts.size());
    std::vector<prediction> result;
    if (devices == 1) return {{"halo", 1, m.halo()}};
    for (const char* name : {"nz", "2nz", "lra"})
        result.push_back({name, devices, m.replicated(0)});
    result.push_back({"lra-rc", devices, m.replicated(lra_rc.fraction)});
    result.push_back({"halo", devices, m.halo()});
    result.push_back({"allgather", devices, m.allgather()});
    std::ranges::stable_sort(result, {}, &prediction::seconds);
    return result;
}

const prediction& clear_choice(std::span<const prediction> fastest_first) {
    const prediction& first = fastest_first.front();
    const auto halo = std::ranges::find(fastest_first, "halo", &prediction::name);
    if (halo == fastest_first.end() || first.seconds < clearly_faster * halo->seconds) return first;
    return *halo;
}

std::string in_words(std::span<const prediction> predictions) {
    std::string words;
    for (const prediction& p : predictions) {
        const bool milli = p.seconds >= 1e-3; // or more: three digits need no power of ten
        words += (words.empty() ? "" : ", ") + p.name + ' ' +
                 number_text(p.seconds * (milli ? 1e3 : 1e6), 3) + (milli ? " ms" : " us");
    }
    return words;
}

} // namespace krylith
