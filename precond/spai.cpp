#include <krylith/precond/spai.hpp>

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

constexpr const char* spai_name = "spai";

spai_options checked_spai(const spai_options& o) {
    if (o.power != 1 && o.power != 2)
        throw usage_error("spai_options::power is " + std::to_string(o.power) +
                          "; allowed is 1 or 2");
    if (!(o.threshold >= 0 && o.threshold <= 1))
        throw usage_error("spai_options::threshold is " + number_text(o.threshold) +
                          "; allowed is 0 to 1");
    return o;
}

template <class T>
detail::inverse_matrix<T> make_inverse(const distributed_csr<T>& a, const spai_options& options) {
    if (options.power == 1) return {spai_name, a, a, detail::inverse_kind::whole};
    return {spai_name, a, detail::squared_couplings(a, options.threshold),
            detail::inverse_kind::whole, options.threshold};
}

} // namespace

namespace detail {

/// M and its operator.
template <class T>
class spai_work {
public:
    spai_work(const matrix_operator<T>& of, const distributed_csr<T>& a,
              const spai_options& options)
        : layout_(of.single().layout()),
          columns_(of.columns_at_once()),
          pattern_(pattern_of(a)),
          inverse_(make_inverse(a, options)) {
        inverse_.take(*layout_, a);
        const operator_options as = options_for(of);
        const layout_handle plain = without_order(layout_);
        std::vector<std::unique_ptr<matrix_operator<T>>> operators;
        operators.push_back(make_operator(operator_layouts{plain, plain}, inverse_.matrix(), as));
        for (auto& single : operators) single = in_columns_of(of, std::move(single));
        chain_.emplace(spai_name, of.layout(), std::move(operators));
    }

    /// Returns whether recorded applications stay right.
    bool update(const distributed_csr<T>& a) {
        refuse_new_values(spai_name, columns_);
        pattern_.expect(spai_name, pattern_of(a));
        const T before = factor();
        inverse_.take(*layout_, a);
        std::vector<const T*> values;
        for (int rank = 0; rank < layout_->group.size(); ++rank)
            values.push_back(inverse_.matrix().block(rank).view().values);
        chain_->at(0).update_on_devices(std::span<const T* const>(values));
        return factor() == before;
    }

    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) {
        chain_->apply(run, factor(), r, z, dots);
    }

    [[nodiscard]] const product_chain<T>& chain() const { return *chain_; }
    [[nodiscard]] const layout& vectors() const { return *layout_; }
    [[nodiscard]] std::int64_t nonzeros() const { return inverse_.matrix().nonzeros(); }
    [[nodiscard]] std::int64_t bytes() const {
        std::int64_t most = 0;
        for (int rank = 0; rank < layout_->group.size(); ++rank)
            most = std::max(most, chain_->bytes(rank) + inverse_.bytes(rank));
        return most;
    }

private:
    [[nodiscard]] T factor() const {
        constexpr int usual = sizeof(T) == 8 ? 130 : 40;
        const int exponent = inverse_.exponent();
        return std::abs(exponent) <= usual ? T(1) : std::ldexp(T(1), -exponent);
    }

    layout_handle layout_; ///< of one column
    int columns_;
    matrix_pattern pattern_;
    inverse_matrix<T> inverse_;
    std::optional<product_chain<T>> chain_;
};

} // namespace detail

template <class T>
spai<T>::spai(const matrix_operator<T>& a, const csr_view<T>& matrix, const spai_options& options)
    : options_(checked_spai(options)) {
    const layout_handle& layout = square_layout(a.single().layouts(), spai_name);
    work_ = std::make_unique<detail::spai_work<T>>(
        a, detail::with_moderate_values(detail::on_devices(spai_name, *layout, matrix)), options_);
}

template <class T>
spai<T>::spai(const matrix_operator<T>& a, std::span<const csr_part<T>> parts,
              const spai_options& options)
    : options_(checked_spai(options)) {
    const layout_handle& layout = square_layout(a.single().layouts(), spai_name);
    work_ = std::make_unique<detail::spai_work<T>>(
        a, detail::with_moderate_values(detail::on_devices(spai_name, *layout, parts)), options_);
}

template <class T>
spai<T>::spai(spai&&) noexcept = default;
template <class T>
spai<T>& spai<T>::operator=(spai&&) noexcept = default;
template <class T>
spai<T>::~spai() = default;

template <class T>
void spai<T>::update(const csr_view<T>& matrix) {
    if (!work_->update(
            detail::with_moderate_values(detail::on_devices(spai_name, work_->vectors(), matrix))))
        identity_.renew();
}

template <class T>
void spai<T>::update(std::span<const csr_part<T>> parts) {
    if (!work_->update(
            detail::with_moderate_values(detail::on_devices(spai_name, work_->vectors(), parts))))
        identity_.renew();
}

template <class T>
void spai<T>::apply(execution& run, const vector<T>& r, vector<T>& z,
                    std::span<const reduction_into<T>> dots) const {
    work_->apply(run, r, z, dots);
}

template <class T>
bool spai<T>::recordable() const {
    return work_->chain().recordable();
}

template <class T>
int spai<T>::kernels() const {
    return work_->chain().kernels();
}

template <class T>
std::int64_t spai<T>::bytes() const {
    return work_->bytes();
}

template <class T>
std::int64_t spai<T>::nonzeros() const {
    return work_->nonzeros();
}

template <class T>
std::string spai<T>::name() const {
    std::string text = "spai:power=" + std::to_string(options_.power);
    if (options_.power != 1) text += ":threshold=" + number_text(options_.threshold);
    return text;
}

#define KRYLITH_INSTANTIATE(T) template class spai<T>;
#include <krylith/device/language/instantiate.inc>

namespace {

constexpr parameter_rule spai_rules[] = {
    parameter_rule::whole("power", spai_options().power, 1, 2, "of A whose pattern M has"),
    parameter_rule::real("threshold", spai_options().threshold, 0, 1,
                         "for power=2: smaller entries are left out"),
};

template <class T>
any_preconditioner<T> make_spai(const matrix_operator<T>& a, const csr_view<T>* matrix,
                                const method_parameters& parameters) {
    spai_options options;
    options.power = static_cast<int>(parameters.whole("power"));
    options.threshold = parameters.real("threshold");
    return spai<T>(a, *matrix, options);
}

/// A zero diagonal is no hindrance.
std::string no_spai_because(const matrix_statistics&) {
    return {};
}

/// The bytes of a product by M with the pattern of A. Where rows of A are longer than rows of M can
/// be, it moves fewer.
std::optional<double> moved_by_spai(const preconditioner_size& s,
                                    const method_parameters& parameters) {
    if (parameters.whole("power") != 1) return std::nullopt;
    const auto w = static_cast<double>(s.value_bytes);
    return (w + 4) * static_cast<double>(s.nnz) + (2 * w + 4) * static_cast<double>(s.rows);
}

} // namespace

constinit const preconditioner_method preconditioner_rows::spai = {
    .name = "spai",
    .aliases = {"sparse-approximate-inverse", "sai", "isai"},
    .help = "a sparse M near the inverse, also of unsymmetric matrices",
    .parameters = std::span<const parameter_rule>(spai_rules),
    .needs_spd = false,
    .needs_matrix = true,
    .pointwise = false,
    .scales_both_sides = false,
    .listed = false,
    .chosen_from = std::nullopt,
    .no_use_because = no_spai_because,
    .kept_bytes = no_kept_bytes, // longer rows keep some of their entries
    .moved_bytes = moved_by_spai,
    .make = preconditioner_makers{make_spai<double>, make_spai<float>},
    .takes_columns = true,
};

} // namespace krylith
