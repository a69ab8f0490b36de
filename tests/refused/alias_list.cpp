// An order of rows whose row lacks `aliases`: none are written as name_list::none().
#include <krylith/spmv/operator_options.hpp>

extern const krylith::row_order_method incomplete;
const krylith::row_order_method incomplete = {
    .name = "incomplete",
    .help = "has no list of aliases",
    .available = nullptr,
    .find = nullptr,
};
