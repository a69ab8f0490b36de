// A singular system as a file: heat on a rod whose ends let nothing through.
#pragma once

#include <array>
#include <string>

#include <fmt/format.h>

#include <krylith/tests/matrix/support/temporary_folder.hpp>

namespace krylith::test {

/// 40 rows, symmetric; A times ones is 0 but for rounding, since no conductance is a round number.
inline void write_neumann(const temporary_folder& folder, const std::string& name) {
    std::string entries;
    double before = 0;
    for (int row = 1; row <= 40; ++row) {
        const double behind = row < 40 ? 1 + 0.1 * (row % 7) / 3 : 0;
        entries += fmt::format("{} {} {}\n", row, row, before + behind);
        if (row < 40) entries += fmt::format("{} {} {}\n", row + 1, row, -behind);
        before = behind;
    }
    folder.write(name, "%%MatrixMarket matrix coordinate real symmetric\n40 40 79\n" + entries);
}

} // namespace krylith::test
