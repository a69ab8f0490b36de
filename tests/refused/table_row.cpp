// A row of a table that lacks a field would say that its format can't do what the field asks.
#include <krylith/sparse/format.hpp>

extern const krylith::format_method incomplete;
const krylith::format_method incomplete = {
    .name = "incomplete",
    .aliases = krylith::name_list::none(),
    .help = "lacks all other fields",
};
