// The matrices that operators are compared on: families of the gallery in comparable sizes.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

namespace krylith::bench {

struct spmv_case {
    std::string matrix; ///< as the krylith command takes it
    std::string family; ///< the generator's name, or the file's
    std::string size;   ///< tiny, small, medium or large; empty where it is no family's member
};

/// A matrix that was named by itself.
[[nodiscard]] spmv_case case_of_matrix(const std::string& name);

/// A generator of the gallery, and its arguments for tiny, small, medium and large members.
struct gallery_family {
    const char* name;
    std::array<const char*, 4> arguments;
};

/// Returns the members of these families ("all", or names with commas) in these sizes, a family's
/// ascending. Throws usage_error naming what is unknown and what is allowed.
[[nodiscard]] std::vector<spmv_case> family_members(const std::string& families,
                                                    const std::vector<std::string>& sizes,
                                                    std::span<const gallery_family> of);

/// The same of the families that operators are compared on.
[[nodiscard]] std::vector<spmv_case> family_members(const std::string& families,
                                                    const std::vector<std::string>& sizes);

/// Returns about how many million nonzeros a member of that size has; 0 for no size.
[[nodiscard]] double usual_millions(const std::string& size);

/// The smallest member of a member's family.
[[nodiscard]] spmv_case smallest_member(const spmv_case& c);

} // namespace krylith::bench
