// A row of the table of preconditioners without a model of what an application moves.
#include <krylith/precond/table/preconditioner_table.hpp>

using namespace krylith;

template <class T>
any_preconditioner<T> make_none(const matrix_operator<T>&, const matrix_ref<T>*,
                                const method_parameters&) {
    return {};
}

constinit const preconditioner_method incomplete = {
    .name = "incomplete",
    .help = "lacks a field",
    .parameters = std::span<const parameter_rule>(),
    .needs_spd = false,
    .needs_matrix = false,
    .listed = false,
    .chosen_from = std::optional<std::int64_t>(),
    .no_use_because = [](const matrix_statistics&) { return std::string(); },
    .kept_bytes = [](const preconditioner_size&,
                     const method_parameters&) { return std::optional(std::int64_t{0}); },
    // .moved_bytes
    .make = preconditioner_makers{make_none<double>, make_none<float>},
};
