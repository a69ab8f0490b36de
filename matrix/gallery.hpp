// Test matrices by formula, built in parallel and reproducible to the bit.
//
// Grids number their points with x fastest, then y, then z: row (z ny + y) nx + x. Equations are
// scaled by h^2 (no 1/h^2 in the entries), and the boundary, where u = 0, is eliminated: all points
// are unknowns, and neighbours outside the grid are dropped. Results are canonical.
//
// The bits depend on the arguments alone, on no number of threads and no machine: random numbers
// are hashes of a seed and a place (matrix/gallery/counter_hash.hpp), and values come from + - * /
// and square roots only, which IEEE 754 rounds the same everywhere.
//
// All generators throw usage_error for an argument out of range and input_error for a matrix
// that the memory can't hold. They cost O(nnz); their memory is the result, unless said otherwise.
#pragma once

#include <span>
#include <string_view>

#include <krylith/device/tables/required.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/gallery/diffusion.hpp>
#include <krylith/matrix/gallery/graphs.hpp>
#include <krylith/matrix/gallery/poisson.hpp>
#include <krylith/matrix/gallery/random.hpp>
#include <krylith/matrix/gallery/systems.hpp>

namespace krylith {

/// A matrix of the gallery that make_gallery knows.
struct gallery_entry {
    std::string_view name;
    std::string_view group;     ///< "Laplacians"
    std::string_view arguments; ///< "NX[:NY]"
    std::string_view help;      ///< one line
    std::string_view details;   ///< kind, formulas and source in a few sentences
    required_text example;      ///< arguments of a small one: "9:8"
};

/// All matrices of the gallery, sorted by name.
[[nodiscard]] std::span<const gallery_entry> gallery_names();

/// The matrix of that name. Throws usage_error naming the nearest.
[[nodiscard]] const gallery_entry& gallery_named(std::string_view name);

/// A matrix by its name and arguments: "poisson3d:64", "poisson2d:100:50:random=7" (random=SEED is
/// random_scaling). Throws usage_error for an unknown name, naming the nearest, and for arguments
/// that are too few, too many or out of range, naming the argument.
template <class T>
[[nodiscard]] csr_matrix<T> make_gallery(std::string_view spec);

/// The coordinates of the nodes of make_gallery(spec), for problems with several unknowns a node;
/// without values for others. Throws as make_gallery() does.
[[nodiscard]] node_coordinates gallery_coordinates(std::string_view spec);

} // namespace krylith
