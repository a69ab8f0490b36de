#include <krylith/precond/amg.hpp>

#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/precond/amg/cycle.hpp>
#include <krylith/precond/coarsening/node_rows.hpp>
#include <krylith/precond/matrix/matrix_on_devices.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>

namespace krylith {

namespace {

constexpr int highest_smoother_degree = 16;
constexpr int most_levels = 50;
constexpr double most_dropped = 0.1;
constexpr std::int64_t most_gathered = std::numeric_limits<std::int32_t>::max();

constexpr std::string_view cycles[] = {"v", "w"};
constexpr std::string_view reuses[] = {"transfer", "values", "none"};
constexpr std::string_view amg_precisions[] = {"fp32", "fp16", "fp64"};
constexpr std::string_view amg_kinds[] = {"auto", "symmetric", "unsymmetric"};

constexpr multigrid_precision precision_values[] = {
    multigrid_precision::fp32, multigrid_precision::fp16, multigrid_precision::fp64};
constexpr multigrid_kind kind_values[] = {multigrid_kind::automatic, multigrid_kind::symmetric,
                                          multigrid_kind::unsymmetric};
constexpr multigrid_reuse reuse_values[] = {multigrid_reuse::transfer, multigrid_reuse::values,
                                            multigrid_reuse::none};

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
    if (sizeof(T) == 4 && o.precision == multigrid_precision::fp64)
        refuse("precision", "fp64", "fp32 or fp16 for an operator in fp32");
    return o;
}

constexpr const char* amg_name = "amg";

/// What is applied to vectors of the operator, which may have several columns.
template <class T, class Source>
std::unique_ptr<detail::amg_work<T>> make_work(const matrix_operator<T>& a, Source source,
                                               amg_options options) {
    const layout_handle& layout = a.single().layout();
    detail::column_vectors vectors;
    if (a.columns_at_once() > 1) {
        vectors = {a.layout(), a.columns_at_once()};
        options.reuse = multigrid_reuse::none; // there is no update()
    }
    if constexpr (sizeof(T) == 8)
        if (options.precision != multigrid_precision::fp64)
            return std::make_unique<detail::multigrid_cycle_apply<T, float>>(
                layout, std::move(source), options,
                detail::make_near_null_space<float>(*layout, options), vectors);
    return std::make_unique<detail::multigrid_cycle_apply<T, T>>(
        layout, std::move(source), options, detail::make_near_null_space<T>(*layout, options),
        vectors);
}

/// Returns whether recorded applications stay right.
template <class T>
bool update_work(detail::amg_work<T>& work, distributed_csr<T> matrix, const amg_options& options,
                 hierarchy_age& age) {
    if (age.rebuild_due()) {
        work.rebuild(std::move(matrix), options);
        age.rebuilt();
    } else if (work.update(std::move(matrix), options)) {
        age.rebuilt();
    }
    return work.updates_in_place();
}

} // namespace

template <class T>
amg<T>::amg(const matrix_operator<T>& a, distributed_csr<T> matrix, const amg_options& options)
    : options_(options),
      pattern_(detail::pattern_of(matrix)),
      layout_(a.single().layout()),
      vectors_layout_(a.layout()),
      work_(make_work(a, std::move(matrix), options)) {
    detail::take_effect(*layout_, options_, vectors_);
}

template <class T>
amg<T>::amg(const matrix_operator<T>& a, const csr_view<T>& matrix, const amg_options& options)
    : amg(a, detail::on_devices(amg_name, *square_layout(a.single().layouts(), amg_name), matrix),
          checked_amg<T>(options)) {}

// A set-up reads the values first, and waits for the devices many times after that.
template <class T>
amg<T>::amg(const matrix_operator<T>& a, std::span<const csr_part<T>> parts,
            const amg_options& options)
    : amg(a,
          detail::on_devices(amg_name, *square_layout(a.single().layouts(), amg_name), parts,
                             part_values::borrowed),
          checked_amg<T>(options)) {}

template <class T>
amg<T>::amg(const matrix_operator<T>& a, std::span<const multigrid_level_matrices<T>> levels,
            const amg_options& options)
    : options_{.degree = options.degree,
               .cycle = options.cycle,
               .max_levels = options.max_levels,
               .gathered_nonzeros = options.gathered_nonzeros,
               .reuse = multigrid_reuse::none,
               .precision = options.precision,
               .kind = options.kind},
      given_(true),
      layout_(square_layout(a.single().layouts(), amg_name)),
      vectors_layout_(a.layout()),
      work_(make_work(a, levels, checked_amg<T>(options_))) {}

template <class T>
amg<T>::amg(amg&&) noexcept = default;
template <class T>
amg<T>& amg<T>::operator=(amg&&) noexcept = default;
template <class T>
amg<T>::~amg() = default;

template <class T>
void amg<T>::take(distributed_csr<T> matrix) {
    if (given_)
        throw usage_error("amg: the levels were given, and can't follow new values; make another "
                          "amg of new levels");
    pattern_.expect(amg_name, detail::pattern_of(matrix));
    if (!update_work(*work_, std::move(matrix), options_, age_)) identity_.renew();
}

template <class T>
void amg<T>::update(const csr_view<T>& matrix) {
    (void)*work_;
    take(detail::on_devices(amg_name, *layout_, matrix));
}

template <class T>
void amg<T>::update(std::span<const csr_part<T>> parts) {
    (void)*work_;
    take(detail::on_devices(amg_name, *layout_, parts));
}

template <class T>
void amg<T>::solved(std::int64_t iterations) {
    age_.solved(iterations);
}

template <class T>
void amg<T>::apply(execution& run, const vector<T>& r, vector<T>& z,
                   std::span<const reduction_into<T>> dots) const {
    detail::amg_work<T>& work = *work_;
    if (r.layout() != vectors_layout_ || z.layout() != vectors_layout_)
        throw usage_error("preconditioner amg was made for vectors of another operator");
    work.apply(run, r, z, dots);
}

template <class T>
bool amg<T>::recordable() const {
    return work_->recordable();
}

template <class T>
bool amg<T>::symmetric() const {
    return work_->symmetric();
}

template <class T>
int amg<T>::kernels() const {
    // A level has two kernels a step of each smoother, two transfers and a pass between them; with
    // cycle w levels are visited twice as often as the one above.
    const auto levels = static_cast<int>(work_->levels().size());
    const int visits = options_.cycle == multigrid_cycle::v ? levels : 4 * levels;
    return 3 + visits * (4 * options_.degree + 3);
}

template <class T>
std::int64_t amg<T>::bytes() const {
    return work_->bytes();
}

template <class T>
std::string amg<T>::name() const {
    std::string text = given_ ? "amg_of_levels" : "amg:theta=" + number_text(options_.theta);
    text += ":degree=" + std::to_string(options_.degree) +
            ":cycle=" + std::string(cycles[static_cast<int>(options_.cycle)]);
    if (options_.aggressive >= 0) text += ":aggressive=" + std::to_string(options_.aggressive);
    if (options_.max_levels != amg_options().max_levels)
        text += ":levels=" + std::to_string(options_.max_levels);
    if (options_.gathered_nonzeros != amg_options().gathered_nonzeros)
        text += ":gathered=" + std::to_string(options_.gathered_nonzeros);
    if (options_.drop != amg_options().drop) text += ":drop=" + number_text(options_.drop);
    for (std::size_t i = 1; i < std::size(reuses); ++i) // the first is the default
        if (!given_ && options_.reuse == reuse_values[i])
            text += ":reuse=" + std::string(reuses[i]);
    for (std::size_t i = 1; i < std::size(amg_precisions); ++i)
        if (options_.precision == precision_values[i])
            text += ":precision=" + std::string(amg_precisions[i]);
    if (!symmetric())
        text += ":kind=unsymmetric";
    else if (options_.kind == multigrid_kind::symmetric)
        text += ":kind=symmetric";
    if (options_.block_size != 1) text += ":block_size=" + std::to_string(options_.block_size);
    return text;
}

template <class T>
std::vector<multigrid_level_facts> amg<T>::levels() const {
    return work_->levels();
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
    parameter_rule::whole("degree", amg_options().degree, 1, highest_smoother_degree,
                          "of the smoother before and after each correction"),
    parameter_rule::word("cycle", cycles, "v, or w for coefficients that jump"),
    parameter_rule::whole("aggressive", -1, -1, most_levels,
                          "levels with aggregates joined in pairs; -1: by the length of rows"),
    parameter_rule::whole("levels", amg_options().max_levels, 1, most_levels, "at most"),
    parameter_rule::whole("gathered", amg_options().gathered_nonzeros, 0, most_gathered,
                          "nonzeros up to which a coarse level lies on one device"),
    parameter_rule::real("drop", amg_options().drop, 0, most_dropped,
                         "of the diagonal: smaller entries of coarse matrices go"),
    parameter_rule::word("reuse", reuses, "what update() keeps"),
    parameter_rule::word("precision", amg_precisions, "of the hierarchy"),
    parameter_rule::word("kind", amg_kinds, "of matrix; auto looks whether it is symmetric"),
    parameter_rule::whole("block_size", amg_options().block_size, 1, aggregation::most_of_node,
                          "rows of a node, consecutive ones"),
};

amg_options amg_options_of(const method_parameters& parameters) {
    amg_options options;
    options.theta = parameters.real("theta");
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
any_preconditioner<T> make_amg(const matrix_operator<T>& a, const csr_view<T>* matrix,
                               const method_parameters& parameters) {
    return amg<T>(a, *matrix, amg_options_of(parameters));
}

/// A text that says nothing of nodes has the rows of a node from `nodes`.
template <class T>
any_preconditioner<T> make_amg_of_nodes(const matrix_operator<T>& a, const csr_view<T>* matrix,
                                        const method_parameters& parameters,
                                        const matrix_nodes& nodes) {
    amg_options options = amg_options_of(parameters);
    if (options.block_size == amg_options().block_size) options.block_size = nodes.block_size;
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
    .help = "algebraic multigrid by smoothed aggregation",
    .parameters = std::span<const parameter_rule>(amg_rules),
    .needs_spd = true,
    .needs_matrix = true,
    .pointwise = false,
    .scales_both_sides = false,
    .listed = true,
    .chosen_from = 1'000'000, // Poisson's: from there on set-up and solve take less than CG alone
    .no_use_because = no_amg_because,
    .kept_bytes = no_kept_bytes, // coarse levels depend on the values
    .moved_bytes = no_moved_bytes,
    .make = preconditioner_makers{make_amg<double>, make_amg<float>},
    .make_for_nodes = {make_amg_of_nodes<double>, make_amg_of_nodes<float>},
    .chosen_for_transport_from = 1'000'000,
    .takes_columns = true,
};

} // namespace krylith
