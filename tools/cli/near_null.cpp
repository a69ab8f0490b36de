#include <krylith/tools/cli/near_null.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/rigid_body_modes.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/tools/cli/names.hpp>

namespace krylith::tool {

namespace {

#if KRYLITH_HAVE_GALLERY
/// Those of a matrix of the gallery; none of others.
node_coordinates generated_coordinates(std::string_view matrix) {
    constexpr std::string_view prefix = "gallery:";
    if (!matrix.starts_with(prefix)) return {};
    return gallery_coordinates(matrix.substr(prefix.size()));
}
#else
node_coordinates generated_coordinates(std::string_view) {
    return {};
}
#endif

bool is_amg(std::string_view preconditioner) {
    return preconditioner != automatic_name &&
           parse_preconditioner(preconditioner).method == &preconditioner_rows::multigrid;
}

node_coordinates load_coordinates(const std::string& file, std::int64_t rows) {
    const csr_matrix<double> array = load_matrix<double>(file);
    if (array.columns < 1 || array.columns > 3 || array.rows * array.columns != rows)
        throw input_error(fmt::format("{}: an array of {} x {}, must be that of nodes x 1, 2 or 3 "
                                      "coordinates, together {} as the matrix has rows",
                                      file, array.rows, array.columns, rows));
    node_coordinates nodes{static_cast<int>(array.columns), {}};
    nodes.values.resize(static_cast<std::size_t>(rows));
    for (std::int64_t node = 0; node < array.rows; ++node)
        for (auto k = static_cast<std::size_t>(array.row_offsets[static_cast<std::size_t>(node)]);
             k < static_cast<std::size_t>(array.row_offsets[static_cast<std::size_t>(node) + 1]);
             ++k)
            nodes.values[static_cast<std::size_t>(node * array.columns + array.column_indices[k])] =
                array.values[k];
    return nodes;
}

} // namespace

int named_block_size(std::string_view preconditioner) {
    return is_amg(preconditioner) ? std::max(1, amg_options_of(preconditioner).block_size) : 1;
}

near_null find_near_null(std::string_view matrix, bool changed, std::int64_t rows,
                         const std::string& coordinates, std::string_view preconditioner) {
    const bool named = !coordinates.empty() && coordinates != "none";
    if (!is_amg(preconditioner) && preconditioner != automatic_name) {
        if (named)
            throw usage_error(fmt::format("--coordinates is for --precond amg and auto, not for {}",
                                          preconditioner));
        return {};
    }
    near_null result;
    result.block_size = named_block_size(preconditioner);
    node_coordinates nodes;
    if (named)
        nodes = load_coordinates(coordinates, rows);
    else if (coordinates.empty() && !changed)
        nodes = generated_coordinates(matrix);
    if (nodes.values.empty()) return result;
    result.vectors = rigid_body_modes(nodes.values, nodes.dimension);
    result.block_size = nodes.dimension;
    return result;
}

} // namespace krylith::tool
