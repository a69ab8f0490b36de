// The recipe by which a matrix of the gallery is made from the text that names it.
#pragma once

#include <cstddef>
#include <span>

#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/gallery/spec.hpp>

namespace krylith {

struct recipe {
    gallery_entry entry;
    std::size_t least_arguments; ///< positional ones
    std::size_t most_arguments;
    csr_matrix<double> (*build_double)(const gallery_spec&);
    csr_matrix<float> (*build_float)(const gallery_spec&);
    /// The coordinates of nodes; null where rows are no unknowns of nodes in space.
    node_coordinates (*coordinates)(const gallery_spec&) = nullptr;
};

/// Makes a recipe. `build` is a lambda without captures, a template of the type of the values.
template <class Build>
recipe make_recipe(const gallery_entry& entry, std::size_t least_arguments,
                   std::size_t most_arguments, const Build& /*build*/) {
    return {entry,
            least_arguments,
            most_arguments,
            [](const gallery_spec& s) { return Build{}.template operator()<double>(s); },
            [](const gallery_spec& s) { return Build{}.template operator()<float>(s); },
            nullptr};
}

/// The same for several unknowns a node: `coordinates` is a lambda without captures.
template <class Build, class Coordinates>
recipe make_recipe(const gallery_entry& entry, std::size_t least_arguments,
                   std::size_t most_arguments, const Build& build, const Coordinates& coordinates) {
    recipe made = make_recipe(entry, least_arguments, most_arguments, build);
    made.coordinates = coordinates;
    return made;
}

/// The recipes by groups, each sorted by name.
[[nodiscard]] std::span<const recipe> grid_recipes();
[[nodiscard]] std::span<const recipe> graph_recipes();

} // namespace krylith
