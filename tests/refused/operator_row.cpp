// A row of the table of operators that lacks `build`.
#include <krylith/spmv/operator_options.hpp>

extern const krylith::operator_method incomplete;
const krylith::operator_method incomplete = {
    .name = "incomplete",
    .aliases = krylith::name_list::none(),
    .help = "can't be built",
    .vectors = krylith::coherence::owned,
    .sends = krylith::sent_data::x,
    .fractions = krylith::operator_fractions{},
    .needs_host_because = "",
    .transposed = nullptr,
    .eager_because = "",
    .one_process = false,
    .persistent = false,
    .listed = false,
    .compared = false,
    .seconds = nullptr,
    .not_predicted_because = "nobody has a model",
    .received = nullptr,
    .plan = nullptr,
};
