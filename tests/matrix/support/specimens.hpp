// Matrices of the gallery whose bits are fixed for ever: those of families_test.cpp, and those that
// a test of one family adds.
//
//     const bool added = krylith::test::add_specimen({"kmer:2000", 2000, 4228, true, 0xc491...});
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace krylith::test {

struct specimen {
    const char* spec; ///< as make_gallery() takes it
    std::int64_t rows;
    std::int64_t nnz;
    bool symmetric;
    std::uint64_t checksum; ///< krylith::test::checksum() of it
};

[[nodiscard]] inline std::vector<specimen>& all_specimens() {
    static std::vector<specimen> all;
    return all;
}

/// Returns true, for the initialiser of a variable in a file of tests.
inline bool add_specimen(const specimen& one) {
    all_specimens().push_back(one);
    return true;
}

} // namespace krylith::test
