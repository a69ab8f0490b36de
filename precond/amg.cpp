#include <krylith/precond/amg.hpp>

#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/precond/amg/amg_work.hpp>
#include <krylith/precond/amg/relaxations.hpp>
#include <krylith/precond/coarsening/node_rows.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>

namespace krylith {

namespace {

constexpr int highest_smoother_degree = 16;
constexpr int most_levels = 50;
constexpr double most_dropped = 0.1;
constexpr double least_threshold = 0.01;
constexpr std::int64_t most_gathered = std::numeric_limits<std::int32_t>::max();

constexpr std::string_view cycles[] = {"v", "w"};
constexpr std::string_view reuses[] = {"auto", "transfer", "values", "none"};
constexpr std::string_view amg_precisions[] = {"fp32", "fp16", "fp64"};
constexpr std::string_view amg_kinds[] = {"auto", "symmetric", "unsymmetric"};

constexpr std::string_view coarsenings[] = {"auto", "aggregation", "classical"};
constexpr std::string_view relaxation_names[] = {"auto", "chebyshev", "first_kind", "jacobi"};

constexpr multigrid_coarsening coarsening_values[] = {multigrid_coarsening::automatic,
                                                      multigrid_coarsening::aggregation,
                                                      multigrid_coarsening::classical};
constexpr multigrid_precision precision_values[] = {
    multigrid_precision::fp32, multigrid_precision::fp16, multigrid_precision::fp64};
constexpr multigrid_kind kind_values[] = {multigrid_kind::automatic, multigrid_kind::symmetric,
                                          multigrid_kind::unsymmetric};
constexpr multigrid_reuse reuse_values[] = {multigrid_reuse::automatic, multigrid_reuse::transfer,
                                            multigrid_reuse::values, multigrid_reuse::none};

template <class T>
const amg_options& checked_amg(const amg_options& o) {
    const auto refuse = [](const std::string& what, const std::string& value,
                           const std::string& allowed) {
        throw usage_error("amg_options::" + what + " is " + value + "; allowed is " + allowed);
    };
    if (!(o.theta >= 0 && o.theta < 1)) refuse("theta", number_text(o.theta), "0 <= theta < 1");
    if (o.degree < 1 || o.degree > highest_smoother_degree)
        refuse("degree", std::to_string(o.degree),
               "1 to " + std::to_string(highest_smoother_degree));
    if (o.aggressive < -1 || o.aggressive > most_levels)
        refuse("aggressive", std::to_string(o.aggressive),
               "-1 (by the length of rows) to " + std::to_string(most_levels));
    if (o.max_levels < 1 || o.max_levels > most_levels)
        refuse("max_levels", std::to_string(o.max_levels), "1 to " + std::to_string(most_levels));
    if (o.gathered_nonzeros < 0 || o.gathered_nonzeros > most_gathered)
        refuse("gathered_nonzeros", std::to_string(o.gathered_nonzeros),
               "0 to " + std::to_string(most_gathered));
    if (!(o.drop >= 0 && o.drop <= most_dropped))
        refuse("drop", number_text(o.drop), "0 to " + number_text(most_dropped));
    if (!(o.strong_threshold >= least_threshold && o.strong_threshold <= 1))
        refuse("strong_threshold", number_text(o.strong_threshold),
               number_text(least_threshold) + " to 1");
    if (sizeof(T) == 4 && o.precision == multigrid_precision::fp64)
        refuse("precision", "fp64", "fp32 or fp16 for an operator in fp32");
    return o;
}

} // namespace

template <class T>
amg<T>::amg(const matrix_operator<T>& a, const matrix_ref<T>& matrix, const amg_options& options)
    : matrix_preconditioner<T>(a.comm().together([&] {
          return std::make_unique<detail::amg_work<T>>(a, matrix, checked_amg<T>(options));
      })) {}

template <class T>
amg<T>::amg(const matrix_operator<T>& a, std::span<const multigrid_level_matrices<T>> levels,
            const amg_options& options)
    : matrix_preconditioner<T>(a.comm().together([&] {
          return std::make_unique<detail::amg_work<T>>(
              a, levels,
              checked_amg<T>({.relaxation = options.relaxation,
                              .degree = options.degree,
                              .cycle = options.cycle,
                              .max_levels = options.max_levels,
                              .gathered_nonzeros = options.gathered_nonzeros,
                              .reuse = multigrid_reuse::none,
                              .precision = options.precision,
                              .kind = options.kind}));
      })) {}

template <class T>
detail::amg_work<T>& amg<T>::multigrid() const {
    return this->template work<detail::amg_work<T>>();
}

template <class T>
void amg<T>::solved(std::int64_t iterations) {
    multigrid().age().solved(iterations);
}
template <class T>
bool amg<T>::rebuild_due() const {
    return multigrid().age().rebuild_due();
}
template <class T>
int amg<T>::rebuilds() const {
    return multigrid().age().rebuilds();
}
template <class T>
const amg_options& amg<T>::options() const {
    return multigrid().options();
}
template <class T>
bool amg<T>::symmetric() const {
    return multigrid().cycle().symmetric();
}
template <class T>
int amg<T>::near_null_vectors() const {
    return multigrid().near_null_vectors();
}

template <class T>
std::string amg<T>::name() const {
    const amg_options& o = options();
    const bool given = multigrid().given();
    std::string text = given ? "amg_of_levels" : "amg:theta=" + number_text(o.theta);
    text += ":degree=" + std::to_string(o.degree) +
            ":cycle=" + std::string(cycles[static_cast<int>(o.cycle)]);
    for (const detail::relaxation_method& row : detail::relaxations())
        if (o.relaxation == row.kind) text += ":relaxation=" + std::string(row.name);
    if (o.aggressive >= 0) text += ":aggressive=" + std::to_string(o.aggressive);
    if (o.max_levels != amg_options().max_levels) text += ":levels=" + std::to_string(o.max_levels);
    if (o.gathered_nonzeros != amg_options().gathered_nonzeros)
        text += ":gathered=" + std::to_string(o.gathered_nonzeros);
    if (o.drop != amg_options().drop) text += ":drop=" + number_text(o.drop);
    for (std::size_t i = 1; i < std::size(reuses); ++i) // the first is the default
        if (!given && o.reuse == reuse_values[i]) text += ":reuse=" + std::string(reuses[i]);
    for (std::size_t i = 1; i < std::size(amg_precisions); ++i)
        if (o.precision == precision_values[i])
            text += ":precision=" + std::string(amg_precisions[i]);
    if (!symmetric())
        text += ":kind=unsymmetric";
    else if (o.kind == multigrid_kind::symmetric)
        text += ":kind=symmetric";
    if (o.coarsening == multigrid_coarsening::classical) text += ":coarsening=classical";
    if (o.strong_threshold != amg_options().strong_threshold)
        text += ":strong_threshold=" + number_text(o.strong_threshold);
    if (o.block_size > 1) text += ":block_size=" + std::to_string(o.block_size);
    return text;
}

template <class T>
std::vector<multigrid_level_facts> amg<T>::levels() const {
    return multigrid().cycle().levels();
}

template <class T>
double amg<T>::operator_complexity() const {
    return krylith::operator_complexity(levels());
}

template <class T>
double amg<T>::grid_complexity() const {
    return krylith::grid_complexity(levels());
}

#define KRYLITH_INSTANTIATE(T) template class amg<T>;
#include <krylith/device/language/instantiate.inc>

namespace {

constexpr parameter_rule amg_rules[] = {
    parameter_rule::real("theta", amg_options().theta, 0, 1,
                         "entries below theta sqrt(a_ii a_jj) are weak"),
    parameter_rule::word("relaxation", relaxation_names,
                         "before and after each correction; auto is chebyshev, of the fourth kind, "
                         "or jacobi for the unsymmetric kind"),
    parameter_rule::whole("degree", amg_options().degree, 1, highest_smoother_degree,
                          "of the relaxation"),
    parameter_rule::word("cycle", cycles, "v, or w for coefficients that jump"),
    parameter_rule::whole("aggressive", -1, -1, most_levels,
                          "levels with aggregates joined in pairs; -1: by the length of rows, "
                          "and boxes of points on grids"),
    parameter_rule::whole("levels", amg_options().max_levels, 1, most_levels, "at most"),
    parameter_rule::whole("gathered", amg_options().gathered_nonzeros, 0, most_gathered,
                          "nonzeros up to which a coarse level lies on one device"),
    parameter_rule::real("drop", amg_options().drop, 0, most_dropped,
                         "of the diagonal: smaller entries of coarse matrices go"),
    parameter_rule::word("reuse", reuses, "what update() keeps"),
    parameter_rule::word("precision", amg_precisions, "of the hierarchy"),
    parameter_rule::word("kind", amg_kinds, "of matrix; auto looks whether it is symmetric"),
    parameter_rule::word("coarsening", coarsenings,
                         "classical for networks and rough coefficients; auto looks"),
    parameter_rule::real("strong_threshold", amg_options().strong_threshold, least_threshold, 1,
                         "of classical coarsening: strong from this part of a row's largest on"),
    parameter_rule::whole("block_size", amg_options().block_size, 0, aggregation::most_of_node,
                          "rows of a node, consecutive ones; 0: as the pattern shows"),
};

amg_options amg_options_of(const method_parameters& parameters) {
    amg_options options;
    options.theta = parameters.real("theta");
    for (const detail::relaxation_method& row : detail::relaxations())
        if (parameters.word("relaxation") == row.name) options.relaxation = row.kind;
    options.degree = static_cast<int>(parameters.whole("degree"));
    options.aggressive = static_cast<int>(parameters.whole("aggressive"));
    options.max_levels = static_cast<int>(parameters.whole("levels"));
    options.block_size = static_cast<int>(parameters.whole("block_size"));
    options.gathered_nonzeros = parameters.whole("gathered");
    options.drop = parameters.real("drop");
    if (parameters.word("cycle") == "w") options.cycle = multigrid_cycle::w;
    for (std::size_t i = 0; i < std::size(reuses); ++i)
        if (parameters.word("reuse") == reuses[i]) options.reuse = reuse_values[i];
    for (std::size_t i = 0; i < std::size(amg_precisions); ++i)
        if (parameters.word("precision") == amg_precisions[i])
            options.precision = precision_values[i];
    for (std::size_t i = 0; i < std::size(amg_kinds); ++i)
        if (parameters.word("kind") == amg_kinds[i]) options.kind = kind_values[i];
    for (std::size_t i = 0; i < std::size(coarsenings); ++i)
        if (parameters.word("coarsening") == coarsenings[i])
            options.coarsening = coarsening_values[i];
    options.strong_threshold = parameters.real("strong_threshold");
    return options;
}

} // namespace

amg_options amg_options_of(std::string_view text) {
    const preconditioner_choice choice = parse_preconditioner(text);
    if (choice.method != &preconditioner_rows::multigrid)
        throw usage_error("'" + std::string(text) + "' is not amg[:KEY=VALUE]...");
    return amg_options_of(choice.parameters);
}

namespace {

template <class T>
any_preconditioner<T> make_amg(const matrix_operator<T>& a, const matrix_ref<T>* matrix,
                               const method_parameters& parameters) {
    return amg<T>(a, *matrix, amg_options_of(parameters));
}

/// A text that says nothing of nodes has the rows of a node from `nodes`.
template <class T>
any_preconditioner<T> make_amg_of_nodes(const matrix_operator<T>& a, const matrix_ref<T>* matrix,
                                        const method_parameters& parameters,
                                        const matrix_nodes& nodes) {
    amg_options options = amg_options_of(parameters);
    if (options.block_size == 0 && nodes.known()) options.block_size = nodes.block_size;
    options.near_null = nodes.near_null;
    return amg<T>(a, *matrix, options);
}

/// Says what it can't do: a hierarchy needs a positive diagonal.
std::string no_amg_because(const matrix_statistics& s) {
    const diagonal_statistics& d = s.diagonal;
    if (d.missing + d.zeros != 0 || d.negative != 0)
        return std::to_string(d.missing + d.zeros + d.negative) + " of " +
               std::to_string(d.length) + " diagonal entries are not positive";
    return {};
}

} // namespace

constinit const preconditioner_method preconditioner_rows::multigrid = {
    .name = "amg",
    .aliases = {"multigrid", "sa-amg", "gamg"},
    .help = "algebraic multigrid, by smoothed aggregation or classical coarsening",
    .parameters = std::span<const parameter_rule>(amg_rules),
    .needs_spd = true,
    .needs_matrix = true,
    .listed = true,
    .chosen_from = 1'000'000, // Poisson's: from there on set-up and solve take less than CG alone
    .no_use_because = no_amg_because,
    .kept_bytes = no_kept_bytes, // coarse levels depend on the values
    .moved_bytes = no_moved_bytes,
    .make = preconditioner_makers{make_amg<double>, make_amg<float>},
    .make_for_nodes = {make_amg_of_nodes<double>, make_amg_of_nodes<float>},
    .chosen_for_transport_from = 1'000'000,
    .stronger = "coarsening=classical",
    .takes_columns = true,
};

} // namespace krylith
