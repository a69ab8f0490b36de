#include <krylith/precond/fsai.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/precond/approximate/inverse_matrix.hpp>
#include <krylith/precond/approximate/product_chain.hpp>
#include <krylith/precond/columns/columns_at_once.hpp>
#include <krylith/precond/matrix/matrix_on_devices.hpp>
#include <krylith/precond/matrix/matrix_pattern.hpp>
#include <krylith/precond/matrix/same_entries.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/spmv/matrix_parts.hpp>

namespace krylith {

namespace {

constexpr const char* fsai_name = "fsai";

fsai_options checked_fsai(const fsai_options& o) {
    if (o.power != 1 && o.power != 2)
        throw usage_error("fsai_options::power is " + std::to_string(o.power) +
                          "; allowed is 1 or 2");
    if (!(o.threshold >= 0 && o.threshold <= 1))
        throw usage_error("fsai_options::threshold is " + number_text(o.threshold) +
                          "; allowed is 0 to 1");
    return o;
}

template <class T>
detail::inverse_matrix<T> make_factor(const distributed_csr<T>& a, const fsai_options& options) {
    if (options.power == 1) return {fsai_name, a, a, detail::inverse_kind::factor};
    return {fsai_name, a, detail::squared_couplings(a, options.threshold),
            detail::inverse_kind::factor, options.threshold};
}

} // namespace

namespace detail {

/// G, its transposed, and their operators.
template <class T>
class fsai_work {
public:
    fsai_work(const matrix_operator<T>& of, const distributed_csr<T>& a,
              const fsai_options& options)
        : layout_(of.single().layout()),
          columns_(of.columns_at_once()),
          pattern_(pattern_of(a)),
          factor_(make_factor(a, options)) {
        factor_.take(*layout_, a);
        transposition_ = distributed_transposition<T>(factor_.matrix());
        transposed_ = transposition_->take(factor_.matrix());
        const operator_options as = options_for(of);
        std::vector<std::unique_ptr<matrix_operator<T>>> operators;
        const layout_handle plain = without_order(layout_);
        const operator_layouts layouts{plain, plain};
        operators.push_back(make_operator(layouts, factor_.matrix(), as));
        operators.push_back(make_operator(layouts, transposed_, as));
        for (auto& single : operators) single = in_columns_of(of, std::move(single));
        chain_.emplace(fsai_name, of.layout(), std::move(operators));
    }

    /// Returns whether recorded applications stay right.
    bool update(const distributed_csr<T>& a) {
        refuse_new_values(fsai_name, columns_);
        pattern_.expect(fsai_name, pattern_of(a));
        const T before = factor();
        factor_.take(*layout_, a);
        transposition_->apply(factor_.matrix(), transposed_);
        give(chain_->at(0), factor_.matrix());
        give(chain_->at(1), transposed_);
        return factor() == before;
    }

    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) {
        chain_->apply(run, factor(), r, z, dots);
    }

    [[nodiscard]] const product_chain<T>& chain() const { return *chain_; }
    [[nodiscard]] const layout& vectors() const { return *layout_; }
    [[nodiscard]] std::int64_t nonzeros() const { return factor_.matrix().nonzeros(); }
    [[nodiscard]] std::int64_t bytes() const {
        std::int64_t most = 0;
        for (int rank = 0; rank < layout_->group.size(); ++rank)
            most = std::max(most, chain_->bytes(rank) + factor_.bytes(rank) +
                                      transposed_.block(rank).bytes());
        return most + transposition_->bytes();
    }

private:
    static void give(matrix_operator<T>& to, const distributed_csr<T>& matrix) {
        std::vector<const T*> values;
        for (int rank = 0; rank < matrix.group().size(); ++rank)
            values.push_back(matrix.block(rank).view().values);
        to.update_on_devices(std::span<const T* const>(values));
    }

    /// G'G has the square of the scale of G.
    [[nodiscard]] T factor() const {
        constexpr int usual = sizeof(T) == 8 ? 65 : 20;
        const int exponent = factor_.exponent();
        return std::abs(exponent) <= usual ? T(1) : std::ldexp(T(1), -2 * exponent);
    }

    layout_handle layout_; ///< of one column
    int columns_;
    matrix_pattern pattern_;
    inverse_matrix<T> factor_;
    std::optional<distributed_transposition<T>> transposition_;
    distributed_csr<T> transposed_;
    std::optional<product_chain<T>> chain_;
};

} // namespace detail

template <class T>
fsai<T>::fsai(const matrix_operator<T>& a, const csr_view<T>& matrix, const fsai_options& options)
    : options_(checked_fsai(options)) {
    const layout_handle& layout = square_layout(a.single().layouts(), fsai_name);
    work_ = std::make_unique<detail::fsai_work<T>>(
        a, detail::with_moderate_values(detail::on_devices(fsai_name, *layout, matrix)), options_);
}

template <class T>
fsai<T>::fsai(const matrix_operator<T>& a, std::span<const csr_part<T>> parts,
              const fsai_options& options)
    : options_(checked_fsai(options)) {
    const layout_handle& layout = square_layout(a.single().layouts(), fsai_name);
    work_ = std::make_unique<detail::fsai_work<T>>(
        a, detail::with_moderate_values(detail::on_devices(fsai_name, *layout, parts)), options_);
}

template <class T>
fsai<T>::fsai(fsai&&) noexcept = default;
template <class T>
fsai<T>& fsai<T>::operator=(fsai&&) noexcept = default;
template <class T>
fsai<T>::~fsai() = default;

template <class T>
void fsai<T>::update(const csr_view<T>& matrix) {
    if (!work_->update(
            detail::with_moderate_values(detail::on_devices(fsai_name, work_->vectors(), matrix))))
        identity_.renew();
}

template <class T>
void fsai<T>::update(std::span<const csr_part<T>> parts) {
    if (!work_->update(
            detail::with_moderate_values(detail::on_devices(fsai_name, work_->vectors(), parts))))
        identity_.renew();
}

template <class T>
void fsai<T>::apply(execution& run, const vector<T>& r, vector<T>& z,
                    std::span<const reduction_into<T>> dots) const {
    work_->apply(run, r, z, dots);
}

template <class T>
bool fsai<T>::recordable() const {
    return work_->chain().recordable();
}

template <class T>
int fsai<T>::kernels() const {
    return work_->chain().kernels();
}

template <class T>
std::int64_t fsai<T>::bytes() const {
    return work_->bytes();
}

template <class T>
std::int64_t fsai<T>::nonzeros() const {
    return work_->nonzeros();
}

template <class T>
std::string fsai<T>::name() const {
    std::string text = "fsai:power=" + std::to_string(options_.power);
    if (options_.power != 1) text += ":threshold=" + number_text(options_.threshold);
    return text;
}

#define KRYLITH_INSTANTIATE(T) template class fsai<T>;
#include <krylith/device/language/instantiate.inc>

namespace {

constexpr parameter_rule fsai_rules[] = {
    parameter_rule::whole("power", fsai_options().power, 1, 2, "of A whose pattern G has"),
    parameter_rule::real("threshold", fsai_options().threshold, 0, 1,
                         "for power=2: smaller entries are left out"),
};

template <class T>
any_preconditioner<T> make_fsai(const matrix_operator<T>& a, const csr_view<T>* matrix,
                                const method_parameters& parameters) {
    fsai_options options;
    options.power = static_cast<int>(parameters.whole("power"));
    options.threshold = parameters.real("threshold");
    return fsai<T>(a, *matrix, options);
}

std::string no_fsai_because(const matrix_statistics& s) {
    const diagonal_statistics& d = s.diagonal;
    if (d.missing + d.zeros != 0 || d.negative != 0)
        return std::to_string(d.missing + d.zeros + d.negative) + " of " +
               std::to_string(d.length) + " diagonal entries are not positive";
    return {};
}

/// The entries of G where rows have no more than there is room for.
double factor_entries(const preconditioner_size& s) {
    return (static_cast<double>(s.nnz) + static_cast<double>(s.rows)) / 2;
}

std::optional<double> moved_by_fsai(const preconditioner_size& s,
                                    const method_parameters& parameters) {
    if (parameters.whole("power") != 1) return std::nullopt;
    const auto w = static_cast<double>(s.value_bytes);
    return 2 * (w + 4) * factor_entries(s) + (4 * w + 8) * static_cast<double>(s.rows);
}

} // namespace

constinit const preconditioner_method preconditioner_rows::fsai = {
    .name = "fsai",
    .aliases = {"afsai", "factorized-sparse-approximate-inverse"},
    .help = "a sparse G'G near the inverse",
    .parameters = std::span<const parameter_rule>(fsai_rules),
    .needs_spd = true,
    .needs_matrix = true,
    .pointwise = false,
    .scales_both_sides = false,
    .listed = true,
    .chosen_from = never_first, // where multigrid is no help: half the iterations of Jacobi
    .no_use_because = no_fsai_because,
    .kept_bytes = no_kept_bytes, // entries of A^2 are not known
    .moved_bytes = moved_by_fsai,
    .make = preconditioner_makers{make_fsai<double>, make_fsai<float>},
    .takes_columns = true,
};

} // namespace krylith
