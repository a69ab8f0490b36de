#include <krylith/precond/ilut.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/precond/incomplete/block_vectors.hpp>
#include <krylith/precond/incomplete/factor_parameters.hpp>
#include <krylith/precond/incomplete/ilut_block.hpp>
#include <krylith/precond/incomplete/principal_submatrix.hpp>
#include <krylith/precond/matrix/canonical_matrix.hpp>
#include <krylith/precond/matrix/matrix_on_devices.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>

namespace krylith {

namespace {

constexpr double most_fill = 1e6;

constexpr std::string_view matchings[] = {"auto", "on", "off"};
constexpr row_matching_use matching_values[] = {row_matching_use::automatic, row_matching_use::on,
                                                row_matching_use::off};

ilut_options checked_ilut(const ilut_options& o) {
    const auto refuse = [](const std::string& what, double value, const std::string& allowed) {
        throw usage_error("ilut_options::" + what + " is " + number_text(value) + "; allowed is " +
                          allowed);
    };
    if (!(o.drop >= 0 && o.drop <= 1)) refuse("drop", o.drop, "0 to 1");
    if (!(o.fill >= 0 && o.fill <= most_fill))
        refuse("fill", o.fill, "0 to " + number_text(most_fill));
    (void)incomplete::checked_overlap("ilut", o.overlap);
    return o;
}

/// The exponent of the power of two that the entries are multiplied by. Throws where they are not
/// finite.
template <class T>
int checked_exponent(const csr_view<T>& a, const layout& layout) {
    double largest = 0;
    double smallest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i)
        for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
             k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k) {
            const double size = std::fabs(static_cast<double>(a.values[k]));
            if (!std::isfinite(size))
                throw input_error(
                    "ilut: an entry of row " +
                    std::to_string(layout.row_of_caller(static_cast<std::int64_t>(i))) +
                    " (counted from 0) is not finite");
            largest = std::max(largest, size);
            if (size > 0) smallest = std::min(smallest, size);
        }
    return detail::moderating_exponent<T>(largest, smallest);
}

} // namespace

namespace detail {

/// The factors of all devices.
template <class T>
class ilut_work final : public matrix_work<T> {
public:
    ilut_work(const matrix_operator<T>& a, const matrix_ref<T>& matrix, const ilut_options& options)
        : layout_(square_layout(a.layouts(), "ilut")), options_(options), made_(make(matrix)) {}

    bool update(const matrix_ref<T>& matrix) override {
        made_ = make(matrix);
        return false;
    }
    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) override {
        made_.vectors->apply(run, "ilut", r, z, dots, [&](int rank, const T* from, T* to) {
            made_.of_rank[static_cast<std::size_t>(rank)]->solve(from, to);
        });
    }
    [[nodiscard]] bool recordable() const override { return true; }
    [[nodiscard]] int kernels() const override { return 4; }
    [[nodiscard]] std::int64_t bytes() const override {
        std::int64_t most = 0;
        for (const int rank : layout_->comm.local())
            most = std::max(most, made_.of_rank[static_cast<std::size_t>(rank)]->bytes() +
                                      made_.vectors->bytes(rank));
        return most;
    }
    /// Of all devices' factors.
    [[nodiscard]] std::int64_t nonzeros() const { return made_.nonzeros; }
    [[nodiscard]] std::int64_t replaced() const { return made_.replaced; }

private:
    struct blocks {
        std::vector<std::unique_ptr<ilut_block<T>>> of_rank; ///< [ranks]
        std::unique_ptr<incomplete::block_vectors<T>> vectors;
        std::int64_t nonzeros = 0;
        std::int64_t replaced = 0;
    };
    [[nodiscard]] blocks make(const matrix_ref<T>& given) const;

    layout_handle layout_;
    ilut_options options_;
    blocks made_;
};

template <class T>
typename ilut_work<T>::blocks ilut_work<T>::make(const matrix_ref<T>& given) const {
    const layout& layout = *layout_;
    const canonical_matrix<T> canonical("ilut", layout, given);
    const csr_view<T>& matrix = canonical.view();
    const int exponent = checked_exponent(matrix, layout);
    const bool whole = layout.kind == coherence::replicated;
    const auto ranks = static_cast<std::size_t>(layout.comm.ranks());
    blocks made;
    made.of_rank.resize(ranks);
    std::vector<local_columns> rows(ranks);
    on_each_rank(layout.comm, [&](int rank) {
        const auto at = static_cast<std::size_t>(rank);
        const row_range owned = whole ? row_range{0, layout.size()} : layout.rows.owned(rank);
        const auto around = incomplete::rows_around(matrix, owned, options_.overlap);
        rows[at] = {layout.comm.handle(rank), owned, {around.begin(), around.end()}};
    });
    const bool overlap = options_.overlap > 0 && !whole && ranks > 1;
    made.vectors = overlap ? std::make_unique<incomplete::block_vectors<T>>(layout_, rows)
                           : std::make_unique<incomplete::block_vectors<T>>(layout_);
    on_each_rank(layout.comm, [&](int rank) {
        const auto at = static_cast<std::size_t>(rank);
        csr_matrix<T> block = incomplete::principal_submatrix<T>(matrix, rows[at]);
        if (exponent != 0)
            for (T& value : block.values) value = std::ldexp(value, exponent);
        const auto number_of = [&](std::int64_t row) {
            return layout.row_of_caller(made.vectors->row_of(rank, row));
        };
        made.of_rank[at] = std::make_unique<ilut_block<T>>(layout.comm.handle(rank),
                                                           csr_view<T>(block), number_of, options_);
    });
    struct counts {
        std::int64_t nonzeros;
        std::int64_t replaced;
    };
    auto of_ranks = by_rank(layout.comm, [&](int rank) {
        const ilut_block<T>& block = *made.of_rank[static_cast<std::size_t>(rank)];
        return counts{block.nonzeros(), block.replaced()};
    });
    layout.comm.all_gather(of_ranks);
    for (const counts& one : of_ranks) {
        made.nonzeros += one.nonzeros;
        made.replaced += one.replaced;
    }
    return made;
}

} // namespace detail

template <class T>
ilut<T>::ilut(const matrix_operator<T>& a, const matrix_ref<T>& matrix, const ilut_options& options)
    : matrix_preconditioner<T>(
          a.comm(),
          [&] { return std::make_unique<detail::ilut_work<T>>(a, matrix, checked_ilut(options)); }),
      options_(options) {}

template <class T>
std::string ilut<T>::name() const {
    std::string text =
        "ilut:drop=" + number_text(options_.drop) + ":fill=" + number_text(options_.fill);
    for (std::size_t i = 1; i < std::size(matchings); ++i) // the first is the default
        if (options_.matching == matching_values[i])
            text += ":matching=" + std::string(matchings[i]);
    if (options_.overlap != 0) text += ":overlap=" + std::to_string(options_.overlap);
    return text;
}

template <class T>
std::int64_t ilut<T>::nonzeros() const {
    return this->template work<detail::ilut_work<T>>().nonzeros();
}

template <class T>
std::int64_t ilut<T>::replaced_pivots() const {
    return this->template work<detail::ilut_work<T>>().replaced();
}

#define KRYLITH_INSTANTIATE(T) template class ilut<T>;
#include <krylith/device/language/instantiate.inc>

namespace {

constexpr parameter_rule ilut_rules[] = {
    parameter_rule::real("drop", ilut_options().drop, 0, 1,
                         "entries below this times their row's mean are dropped"),
    parameter_rule::real("fill", ilut_options().fill, 0, most_fill,
                         "rows of L and of U keep this times the mean entries of a row"),
    parameter_rule::word("matching", matchings, "of rows, for large entries on the diagonal"),
    incomplete::overlap_rule,
};

template <class T>
any_preconditioner<T> make_ilut(const matrix_operator<T>& a, const matrix_ref<T>* matrix,
                                const method_parameters& parameters) {
    ilut_options options;
    options.drop = parameters.real("drop");
    options.fill = parameters.real("fill");
    options.overlap = incomplete::overlap_of(parameters);
    for (std::size_t i = 0; i < std::size(matchings); ++i)
        if (parameters.word("matching") == matchings[i]) options.matching = matching_values[i];
    return ilut<T>(a, *matrix, options);
}

std::string no_ilut_because(const matrix_statistics&) {
    return {};
}

} // namespace

constinit const preconditioner_method preconditioner_rows::ilut = {
    .name = "ilut",
    .aliases = {"ilutp", "spilu"},
    .help = "incomplete LU with thresholds of each device's block",
    .parameters = std::span<const parameter_rule>(ilut_rules),
    .needs_spd = false,
    .needs_matrix = true,
    .listed = true,
    .chosen_from = 0,
    .no_use_because = no_ilut_because,
    .kept_bytes = no_kept_bytes, // what is dropped depends on the values
    .moved_bytes = no_moved_bytes,
    .make = preconditioner_makers{make_ilut<double>, make_ilut<float>},
    .stronger = "drop=1e-8:fill=100",
};

} // namespace krylith
