#include <krylith/vector/layout.hpp>

#include <string>
#include <utility>

#include <krylith/device/error.hpp>

namespace krylith {

operator_layouts make_layouts(const communicator& comm, row_partition rows, row_partition columns,
                              coherence kind, std::shared_ptr<const permutation> order) {
    const bool same = rows == columns;
    const auto range = std::make_shared<layout>(layout{comm, std::move(rows), kind, order});
    if (same) return {range, range};
    return {std::make_shared<layout>(layout{comm, std::move(columns), kind, std::move(order)}),
            range};
}

layout_handle in_columns(const layout_handle& single, int columns) {
    if (single->order)
        throw usage_error("vectors of several columns have their rows in the caller's order");
    row_partition rows = single->rows;
    for (std::int64_t& begin : rows.begin) begin *= columns;
    return std::make_shared<layout>(layout{single->comm, std::move(rows), single->kind});
}

const layout_handle& square_layout(const operator_layouts& layouts, std::string_view who) {
    if (layouts.square()) return layouts.range;
    const std::int64_t rows = layouts.range->size();
    const std::int64_t columns = layouts.domain->size();
    if (rows != columns)
        throw usage_error(std::string(who) + " needs a square matrix; A is " +
                          std::to_string(rows) + " x " + std::to_string(columns));
    throw usage_error(std::string(who) + " needs one layout for x and y = A x; A, which is " +
                      std::to_string(rows) + " x " + std::to_string(columns) +
                      ", was made between two");
}

} // namespace krylith
