#include <krylith/precond/gauss_seidel.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/precond/matrix/matrix_on_devices.hpp>
#include <krylith/precond/matrix/matrix_pattern.hpp>
#include <krylith/precond/matrix/same_entries.hpp>
#include <krylith/precond/preconditioner.hpp>
#include <krylith/precond/sweeps/colour_sweeps.hpp>
#include <krylith/precond/sweeps/replicated_result.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>

namespace krylith {

namespace {

constexpr const char* gauss_seidel_name = "gauss-seidel";
constexpr std::string_view sweeps[] = {"symmetric", "forward"};

gauss_seidel_options checked_gauss_seidel(const gauss_seidel_options& o) {
    if (!(o.omega > 0 && o.omega < 2))
        throw usage_error("gauss_seidel_options::omega is " + number_text(o.omega) +
                          "; allowed is above 0 and below 2");
    return o;
}

} // namespace

namespace detail {

template <class T>
class gauss_seidel_work final : public matrix_work<T> {
public:
    gauss_seidel_work(const matrix_operator<T>& a, const matrix_ref<T>& matrix,
                      const gauss_seidel_options& options)
        : gauss_seidel_work(square_layout(a.layouts(), gauss_seidel_name), options, matrix) {}

    bool update(const matrix_ref<T>& matrix) override {
        const distributed_csr<T> a = on_devices(gauss_seidel_name, *layout_, matrix);
        pattern_.expect(gauss_seidel_name, pattern_of(a));
        sweeps_.take(*layout_, a);
        return true;
    }

    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) override {
        if (r.layout() != layout_ || z.layout() != layout_)
            throw usage_error("preconditioner gauss-seidel was made for vectors of another "
                              "operator");
        sweeps_.run(run, r);
        if (everywhere_) return everywhere_->give(run, r, z, dots);
        const vector<T> result = detail::same_entries(layout_, sweeps_.result());
        fused_update<T> update;
        update.add(z = result);
        update.add(dots);
        enqueue(run, update);
    }

    [[nodiscard]] int colours() const { return sweeps_.colours(); }
    [[nodiscard]] bool recordable() const override {
        return !everywhere_ || everywhere_->recordable();
    }
    [[nodiscard]] int kernels() const override { return sweeps_.kernels() + 1; }
    [[nodiscard]] std::int64_t bytes() const override {
        std::int64_t most = 0;
        for (const int rank : layout_->comm.local()) most = std::max(most, sweeps_.bytes(rank));
        return most;
    }

private:
    gauss_seidel_work(layout_handle layout, const gauss_seidel_options& options,
                      const matrix_ref<T>& matrix)
        : gauss_seidel_work(layout, options, on_devices(gauss_seidel_name, *layout, matrix)) {}
    gauss_seidel_work(layout_handle layout, const gauss_seidel_options& options,
                      const distributed_csr<T>& a)
        : layout_(std::move(layout)),
          pattern_(pattern_of(a)),
          sweeps_(*layout_, a, options.omega, options.sweep == sweep_kind::symmetric) {
        if (layout_->kind == coherence::replicated) everywhere_.emplace(layout_, sweeps_.result());
    }

    layout_handle layout_;
    matrix_pattern pattern_;
    colour_sweeps<T> sweeps_;
    std::optional<replicated_result<T>> everywhere_;
};

} // namespace detail

template <class T>
gauss_seidel<T>::gauss_seidel(const matrix_operator<T>& a, const matrix_ref<T>& matrix,
                              const gauss_seidel_options& options)
    : matrix_preconditioner<T>(a.comm(),
                               [&] {
                                   return std::make_unique<detail::gauss_seidel_work<T>>(
                                       a, matrix, checked_gauss_seidel(options));
                               }),
      options_(options) {}

template <class T>
std::string gauss_seidel<T>::name() const {
    return "gauss-seidel:omega=" + number_text(options_.omega) +
           ":sweep=" + std::string(sweeps[symmetric() ? 0 : 1]);
}

template <class T>
int gauss_seidel<T>::colours() const {
    return this->template work<detail::gauss_seidel_work<T>>().colours();
}

#define KRYLITH_INSTANTIATE(T) template class gauss_seidel<T>;
#include <krylith/device/language/instantiate.inc>

namespace {

/// 0 and 2, which checked_gauss_seidel() refuses, are the ends of what a rule can say.
constexpr parameter_rule gauss_seidel_rules[] = {
    parameter_rule::real("omega", gauss_seidel_options().omega, 0.01, 1.99, "the relaxation"),
    parameter_rule::word("sweep", sweeps, "forward for matrices that are not symmetric"),
};

template <class T>
any_preconditioner<T> make_gauss_seidel(const matrix_operator<T>& a, const matrix_ref<T>* matrix,
                                        const method_parameters& parameters) {
    gauss_seidel_options options;
    options.omega = parameters.real("omega");
    if (parameters.word("sweep") == sweeps[1]) options.sweep = sweep_kind::forward;
    return gauss_seidel<T>(a, *matrix, options);
}

std::string no_gauss_seidel_because(const matrix_statistics& s) {
    const diagonal_statistics& d = s.diagonal;
    if (d.has_zeros())
        return std::to_string(d.missing + d.zeros) + " of " + std::to_string(d.length) +
               " diagonal entries are 0";
    return {};
}

/// The share of the entries beside the diagonal that sweeps read.
double swept_entries(const preconditioner_size& s, const method_parameters& parameters) {
    const auto beside = static_cast<double>(std::max<std::int64_t>(0, s.nnz - s.rows));
    return parameters.word("sweep") == sweeps[1] ? beside / 2 : beside;
}

std::optional<std::int64_t> bytes_of_gauss_seidel(const preconditioner_size& s,
                                                  const method_parameters& parameters) {
    // A forward sweep may have nearly all entries of a device that has the last colours.
    const auto entries = static_cast<double>(std::max<std::int64_t>(0, s.nnz));
    const int directions = parameters.word("sweep") == sweeps[1] ? 1 : 2;
    const auto w = static_cast<double>(s.value_bytes);
    return static_cast<std::int64_t>((w + 4) * entries) +
           (8 + 8 * directions + 2 * s.value_bytes) * s.rows + (4 + s.value_bytes) * s.ghosts;
}
std::optional<double> moved_by_gauss_seidel(const preconditioner_size& s,
                                            const method_parameters& parameters) {
    const auto w = static_cast<double>(s.value_bytes);
    return (w + 4) * swept_entries(s, parameters) + (5 * w + 24) * static_cast<double>(s.rows);
}

} // namespace

constinit const preconditioner_method preconditioner_rows::gauss_seidel = {
    .name = "gauss-seidel",
    .aliases = {"gs", "ssor", "sgs", "sor"},
    .help = "sweeps over colours of rows, as SSOR",
    .parameters = std::span<const parameter_rule>(gauss_seidel_rules),
    .needs_spd = false,
    .needs_matrix = true,
    .listed = false,
    .chosen_from = std::nullopt,
    .no_use_because = no_gauss_seidel_because,
    .kept_bytes = bytes_of_gauss_seidel,
    .moved_bytes = moved_by_gauss_seidel,
    .make = preconditioner_makers{make_gauss_seidel<double>, make_gauss_seidel<float>},
    .keeps_definite = true,
};

} // namespace krylith
