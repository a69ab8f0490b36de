// The matrices that kernel models are trained on.
#pragma once

#include <string>
#include <vector>

#include <krylith/matrix/gallery.hpp>

namespace krylith::bench {

/// Returns at least 300 matrices, as the krylith command takes them: all families of the gallery,
/// most of them in several shapes or seeds, and each of these in four sizes, of about the same
/// nonzeros for all. `scale` is small, medium or large; throws usage_error for another.
[[nodiscard]] std::vector<std::string> training_matrices(const std::string& scale);

/// Returns about how many nonzeros the sizes of a scale have, ascending.
[[nodiscard]] std::vector<double> training_sizes(const std::string& scale);

/// Returns a matrix of the gallery of about so many nonzeros, whose first argument is a size:
/// nonzeros are taken to grow as a power of it, which the example and one twice as large tell. The
/// other arguments are the example's.
[[nodiscard]] std::string grown(const gallery_entry& entry, double nonzeros);

} // namespace krylith::bench
