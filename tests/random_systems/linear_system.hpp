// A system A x = b as the generators make it, and the table of the generators.
#pragma once

#include <span>
#include <vector>

#include <krylith/tests/random_systems/random_source.hpp>

namespace random_systems {

struct entry {
    int column;
    double value;
};

/// A system whose values have no precision yet: whoever stores them rounds them.
struct linear_system {
    explicit linear_system(int size) : rows(static_cast<std::size_t>(size)) {}

    [[nodiscard]] int size() const { return static_cast<int>(rows.size()); }
    void add(int row, int column, double value) {
        rows[static_cast<std::size_t>(row)].push_back({column, value});
    }

    std::vector<std::vector<entry>> rows;
    std::vector<double> rhs; ///< empty: any right-hand side will do
};

/// The range of a precision, for generators: powers of ten.
struct number_range {
    double largest;   ///< numbers up to 10^largest, and down to 10^-largest, are normal
    double subnormal; ///< numbers from 10^subnormal to 10^-largest lose digits
};

struct kind {
    const char* name;
    int most_rows;
    linear_system (*make)(random_source& random, int size, const number_range& range);
};

/// The dense kinds, made from a spectrum or by a formula.
[[nodiscard]] std::span<const kind> dense_kinds();
/// The kinds of grids, bands, blocks and random patterns.
[[nodiscard]] std::span<const kind> sparse_kinds();
/// The singular kinds, and those at the ends of the number range.
[[nodiscard]] std::span<const kind> extreme_kinds();

/// All kinds.
[[nodiscard]] const std::vector<kind>& all_kinds();

/// Returns b = A x in the generator's precision.
[[nodiscard]] std::vector<double> product(const linear_system& a, const std::vector<double>& x);
[[nodiscard]] std::vector<double> random_vector(random_source& random, int size);

} // namespace random_systems
