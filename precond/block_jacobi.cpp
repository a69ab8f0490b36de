#include <krylith/precond/block_jacobi.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/precond/blocks/block_inverses.hpp>
#include <krylith/precond/blocks/block_product.hpp>
#include <krylith/precond/blocks/natural_blocks.hpp>
#include <krylith/precond/matrix/matrix_on_devices.hpp>
#include <krylith/precond/matrix/matrix_pattern.hpp>
#include <krylith/precond/matrix/same_entries.hpp>
#include <krylith/precond/preconditioner.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/spmv/halo/halo_operator.hpp>
#include <krylith/spmv/replicated/replicated_operator.hpp>

namespace krylith {

namespace {

constexpr const char* block_jacobi_name = "block-jacobi";

block_jacobi_options checked_block_jacobi(const block_jacobi_options& o) {
    if (o.block_size < 0 || o.block_size > detail::largest_block)
        throw usage_error("block_jacobi_options::block_size is " + std::to_string(o.block_size) +
                          "; allowed is 1 to " + std::to_string(detail::largest_block) +
                          ", or 0 for natural blocks");
    return o;
}

template <class T>
std::vector<detail::block_place> block_places(const distributed_csr<T>& a,
                                              const block_jacobi_options& options) {
    return options.block_size == 0 ? detail::natural_blocks(a)
                                   : detail::equal_blocks(a.rows(), options.block_size);
}

} // namespace

namespace detail {

/// The blocks, and the operator that multiplies by their inverses.
template <class T>
class block_work final : public matrix_work<T> {
public:
    block_work(const matrix_operator<T>& a, const matrix_ref<T>& matrix,
               const block_jacobi_options& options)
        : layout_(square_layout(a.layouts(), block_jacobi_name)) {
        const distributed_csr<T> rows = taken(matrix);
        pattern_ = pattern_of(rows);
        inverses_.emplace(*layout_, block_places(rows, options));
        inverses_->take(*layout_, rows);
        make_operator();
    }

    bool update(const matrix_ref<T>& matrix) override {
        const distributed_csr<T> rows = taken(matrix);
        pattern_.expect(block_jacobi_name, pattern_of(rows));
        const T before = factor();
        inverses_->take(*layout_, rows);
        return factor() == before;
    }

    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) override {
        if (r.layout() != layout_ || z.layout() != layout_)
            throw usage_error("preconditioner block-jacobi was made for vectors of another "
                              "operator");
        const bool on_the_way = dots.size() <= max_spmv_dots;
        const auto now = on_the_way ? dots : std::span<const reduction_into<T>>{};
        if (copy_) {
            fused(run, *copy_ = r);
            inverse_->apply(run, factor(), *copy_, T(0), z, now);
        } else {
            inverse_->apply(run, factor(), same_entries(layout_, r), T(0), z, now);
        }
        finish_apply(run, z, on_the_way ? std::span<const reduction_into<T>>{} : dots);
    }

    [[nodiscard]] bool recordable() const override { return inverse_->recordable(); }
    [[nodiscard]] int kernels() const override { return copy_ ? 2 : 1; }
    [[nodiscard]] const block_inverses<T>& inverses() const { return *inverses_; }
    [[nodiscard]] std::int64_t bytes() const override {
        std::int64_t most = 0;
        for (const int rank : layout_->comm.local()) {
            std::int64_t sum = inverses_->bytes(rank);
            if (copy_)
                sum += (layout_->held(rank) + inverse_->received(rank)) *
                       static_cast<std::int64_t>(sizeof(T));
            most = std::max(most, sum);
        }
        return most;
    }

private:
    [[nodiscard]] distributed_csr<T> taken(const matrix_ref<T>& matrix) const {
        return with_moderate_values(on_devices(block_jacobi_name, *layout_, matrix,
                                               part_values::copied, global_columns::any_number));
    }
    /// Products such as r'M^-1 r must neither overflow nor vanish. The exponent is even, as that of
    /// point Jacobi.
    [[nodiscard]] T factor() const {
        constexpr int usual = sizeof(T) == 8 ? 130 : 40;
        const int exponent = inverses_->exponent();
        return std::abs(exponent) <= usual ? T(1) : std::ldexp(T(1), -exponent / 2 * 2);
    }

    void make_operator() {
        const index_map map = inverses_->map(*layout_);
        const auto block = [&](const layout& layout, int rank, const held_entries&) {
            return make_block_product<T>(layout.comm.handle(rank),
                                         {inverses_->view(rank), inverses_->columns(rank),
                                          map.local(rank).ghost_count() != 0,
                                          inverses_->bytes_read(rank)});
        };
        const operator_layouts layouts{layout_, layout_};
        if (layout_->kind == coherence::replicated)
            inverse_ = std::make_unique<replicated_operator<T>>(layouts, block);
        else
            inverse_ = std::make_unique<halo_operator<T>>(layouts, map, block);
        if (!map.any_ghosts()) return;
        copy_.emplace(inverse_->make_domain_vector("preconditioner"));
        copy_->promise_single_reader();
    }

    layout_handle layout_;
    std::optional<block_inverses<T>> inverses_;
    matrix_pattern pattern_;
    std::unique_ptr<matrix_operator<T>> inverse_;
    std::optional<vector<T>> copy_; ///< of r, with the ghosts that divided blocks read
};

} // namespace detail

template <class T>
block_jacobi<T>::block_jacobi(const matrix_operator<T>& a, const matrix_ref<T>& matrix,
                              const block_jacobi_options& options)
    : matrix_preconditioner<T>(a.comm(),
                               [&] {
                                   return std::make_unique<detail::block_work<T>>(
                                       a, matrix, checked_block_jacobi(options));
                               }),
      options_(options) {}

template <class T>
std::string block_jacobi<T>::name() const {
    return "block-jacobi:block_size=" + std::to_string(options_.block_size);
}

template <class T>
std::int64_t block_jacobi<T>::blocks() const {
    return this->template work<detail::block_work<T>>().inverses().count();
}

template <class T>
int block_jacobi<T>::largest_block() const {
    return this->template work<detail::block_work<T>>().inverses().largest();
}

#define KRYLITH_INSTANTIATE(T) template class block_jacobi<T>;
#include <krylith/device/language/instantiate.inc>

namespace {

constexpr parameter_rule block_jacobi_rules[] = {
    parameter_rule::whole("block_size", block_jacobi_options().block_size, 0, detail::largest_block,
                          "rows of a block; 0: rows of equal patterns are a block"),
};

template <class T>
any_preconditioner<T> make_block_jacobi(const matrix_operator<T>& a, const matrix_ref<T>* matrix,
                                        const method_parameters& parameters) {
    block_jacobi_options options;
    options.block_size = static_cast<int>(parameters.whole("block_size"));
    return block_jacobi<T>(a, *matrix, options);
}

template <class T>
any_preconditioner<T> make_blocks_of_nodes(const matrix_operator<T>& a, const matrix_ref<T>* matrix,
                                           const method_parameters& parameters,
                                           const matrix_nodes& nodes) {
    block_jacobi_options options;
    options.block_size = static_cast<int>(parameters.whole("block_size"));
    if (options.block_size == 0 && nodes.block_size > 1) options.block_size = nodes.block_size;
    return block_jacobi<T>(a, *matrix, options);
}

/// The rows of natural blocks are not known from statistics: 1 is the least.
std::int64_t rows_of_block(const method_parameters& parameters) {
    return std::max<std::int64_t>(1, parameters.whole("block_size"));
}

} // namespace

constinit const preconditioner_method preconditioner_rows::block_jacobi = {
    .name = "block-jacobi",
    .aliases = {"blockjacobi", "bjacobi", "vpbjacobi", "pbjacobi"},
    .help = "solves with small blocks along the diagonal",
    .parameters = std::span<const parameter_rule>(block_jacobi_rules),
    .needs_spd = false,
    .needs_matrix = true,
    .listed = true,
    .chosen_from = std::nullopt,
    .no_use_because = [](const matrix_statistics&) { return std::string(); },
    .kept_bytes =
        [](const preconditioner_size& s, const method_parameters& parameters) {
            const std::int64_t b = rows_of_block(parameters);
            const std::int64_t slices = (s.rows + detail::slice_rows - 1) / detail::slice_rows;
            return std::optional(slices * detail::slice_rows * (s.value_bytes * b + 2) +
                                 4 * (slices + 1) + 4 * ((s.rows + b - 1) / b));
        },
    .moved_bytes =
        [](const preconditioner_size& s, const method_parameters& parameters) {
            return std::optional(static_cast<double>(
                (s.value_bytes * (rows_of_block(parameters) + 2) + 2) * s.rows));
        },
    .make = preconditioner_makers{make_block_jacobi<double>, make_block_jacobi<float>},
    .make_for_nodes = {make_blocks_of_nodes<double>, make_blocks_of_nodes<float>},
    .keeps_definite = true,
    .only_for_nodes = true,
};

} // namespace krylith
