#include <krylith/bench/break_even/break_even.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <krylith/spmv/cost_model.hpp>
#include <krylith/spmv/machine_rates.hpp>
#include <krylith/tools/cli/console.hpp>

namespace krylith::bench {
namespace {

/// The entries of others that a device's rows reference.
enum class coupling {
    none,   ///< blocks
    planes, ///< a cube in slabs: the plane before and the plane after
    tenth,  ///< a tenth as many as the device has rows
    all     ///< no structure: all entries of the others
};
constexpr std::array couplings = {coupling::none, coupling::planes, coupling::tenth, coupling::all};

const char* in_words(coupling c) {
    switch (c) {
    case coupling::none: return "none";
    case coupling::planes: return "two planes of a cube";
    case coupling::tenth: return "a tenth of its rows";
    case coupling::all: return "all entries of the others";
    }
    return "";
}

pattern_statistics::part one_part(std::int64_t rows, int nonzeros, int place, int devices,
                                  coupling c) {
    pattern_statistics::part part{rows, rows * nonzeros};
    if (devices == 1 || c == coupling::none) {
        return part;
    }
    if (c == coupling::all) {
        part.ghosts = part.sent = rows * (devices - 1);
        part.boundary_rows = rows;
        return part;
    }
    const auto n = static_cast<double>(rows * devices);
    const bool at_the_end = place == 0 || place == devices - 1;
    const double planes = (at_the_end ? 1 : 2) * std::pow(n, 2.0 / 3.0);
    part.ghosts = c == coupling::tenth ? rows / 10 : static_cast<std::int64_t>(planes);
    part.sent = part.ghosts;
    part.boundary_rows = std::min(rows, part.ghosts);
    return part;
}

/// The fastest operator.
prediction fastest(std::int64_t rows, int nonzeros, int devices, coupling c) {
    pattern_statistics s;
    s.longest_row = nonzeros;
    for (int place = 0; place < devices; ++place) {
        s.parts.push_back(one_part(rows, nonzeros, place, devices, c));
    }
    return predict(s, h200_rates()).front();
}

bool pays(std::int64_t rows, int nonzeros, int devices, coupling c) {
    return fastest(rows, nonzeros, devices, c).seconds <
           fastest(rows * devices, nonzeros, 1, c).seconds;
}

/// Returns the fewest rows a device that pay; nothing where the most that 32-bit columns allow do
/// not.
std::optional<std::int64_t> break_even(int nonzeros, int devices, coupling c) {
    std::int64_t too_few = 0;
    std::int64_t enough = ((std::int64_t{1} << 31) - 1) / devices;
    if (!pays(enough, nonzeros, devices, c)) {
        return std::nullopt;
    }
    while (enough - too_few > 1) {
        const std::int64_t middle = too_few + (enough - too_few) / 2;
        (pays(middle, nonzeros, devices, c) ? enough : too_few) = middle;
    }
    return enough;
}

/// A cell of the table with two digits: "13 000 (halo)".
std::string in_words(std::optional<std::int64_t> rows, int nonzeros, int devices, coupling c) {
    if (!rows) {
        return "never";
    }
    const auto unit = static_cast<std::int64_t>(
        std::pow(10, std::max(0.0, std::floor(std::log10(static_cast<double>(*rows))) - 1)));
    const std::int64_t rounded = (*rows + unit - 1) / unit * unit;
    std::string digits = std::to_string(rounded);
    for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > 0; place -= 3) {
        digits.insert(static_cast<std::size_t>(place), 1, ' ');
    }
    return fmt::format("{} (`{}`)", digits, fastest(*rows, nonzeros, devices, c).name);
}

} // namespace

bool break_even_run::run() const {
    std::string table =
        "| nonzeros a row | ghosts of a device | 2 GPUs | 4 GPUs |\n|---|---|---|---|\n";
    for (const int nonzeros : {3, 7, 27, 81}) {
        for (const coupling c : couplings) {
            table += fmt::format("| {} | {} | {} | {} |\n", nonzeros, in_words(c),
                                 in_words(break_even(nonzeros, 2, c), nonzeros, 2, c),
                                 in_words(break_even(nonzeros, 4, c), nonzeros, 4, c));
        }
    }
    tool::print(stdout, table);
    return true;
}

} // namespace krylith::bench
