#include <krylith/tools/model/footprint.hpp>

#include <algorithm>

#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/sparse/selection/format_choice.hpp>
#include <krylith/sparse/sell/sell_layout.hpp>
#include <krylith/spmv/cost_model.hpp>

namespace krylith::tool {

double traffic::product(bool reads_y) const {
    const auto matrix = static_cast<double>((value_bytes + 4) * nnz + 4 * rows);
    return matrix +
           static_cast<double>(value_bytes * (columns_or_rows() + (reads_y ? 2 : 1) * rows));
}

namespace {

/// Basis vectors that an iteration of restarted GMRES works with, in the mean.
double mean_basis(const method& m) {
    if (m.iterations == 0) return 0;
    const std::int64_t rest = m.iterations % m.restart;
    const std::int64_t sum =
        m.iterations / m.restart * (m.restart * (m.restart + 1) / 2) + rest * (rest + 1) / 2;
    return static_cast<double>(sum) / static_cast<double>(m.iterations);
}

/// The solver's vectors by what they hold: owned entries, or ghosts too (what A multiplies).
struct vector_count {
    std::int64_t plain;
    std::int64_t domains;
};

vector_count vectors_of(const method& m) {
    const bool jacobi = m.preconditioner == "jacobi";
    const std::int64_t around = jacobi ? 3 : 2; // b, x, the diagonal
    if (m.solver.starts_with("cg")) return {around + (jacobi ? 3 : 2), 1};
    if (m.solver == "bicgstab") return {around + 4, jacobi ? 4 : 2};
    const std::int64_t basis = m.restart + 1;
    if (jacobi) return {around + 2 + basis, 2}; // A multiplies R^-1 v
    return {around + 2, basis + 1};
}

/// The bytes of the fullest device, as matrix_bytes() of the formats says once they exist.
void add_formats(footprint& f, const block_pattern& block) {
    for (const format_kind format : formats::all)
        f.matrix_bytes(format) = std::max(f.matrix_bytes(format), format->matrix_bytes(block));
    f.sell_padding = std::max(f.sell_padding, make_sell_layout(block.offsets).padding());
}

} // namespace

int products(const method& m) {
    return m.solver == "bicgstab" ? 2 : 1;
}

std::optional<double> vector_passes(const method& m) {
    // Beside the product: r q read, r written; x p r read, x p written. Jacobi reads its diagonal
    // and writes z, which stands for r in the last pass.
    if (m.solver.starts_with("cg")) // however it is run: what the textbook moves
        return m.preconditioner == "jacobi" ? 10 : 8;
    if (m.preconditioner != "none") return std::nullopt;
    // r0 read with the first product; r v read, s written; x p s t r0 read, x r written; r p v
    // read, p written.
    if (m.solver == "bicgstab") return 15;
    // The basis is read twice: solvers/gmres.hpp. Four times: solvers/gmres_cgs2.hpp.
    if (m.solver == "gmres") return 2 * mean_basis(m) + 4;
    if (m.solver == "gmres:cgs2") return 4 * mean_basis(m) + 5;
    return std::nullopt;
}

std::optional<double> traffic::iteration(const method& m) const {
    const std::optional<double> passes = vector_passes(m);
    if (!passes) return std::nullopt;
    return products(m) * product() + *passes * static_cast<double>(value_bytes * rows);
}

std::int64_t& footprint::matrix_bytes(format_kind format) {
    return format_bytes.at(
        static_cast<std::size_t>(std::ranges::find(formats::all, format) - formats::all.begin()));
}

std::int64_t footprint::matrix_bytes(format_kind format) const {
    return footprint(*this).matrix_bytes(format);
}

std::int64_t footprint::vector_bytes(const method& m) const {
    const vector_count count = vectors_of(m);
    std::int64_t most = 0;
    for (const part& p : parts) {
        const std::int64_t ghosts = kind->vectors == coherence::replicated ? 0 : p.received;
        most = std::max(most, count.plain * p.held + count.domains * (p.held + ghosts));
    }
    return value_bytes * most;
}

double footprint::iteration_bytes(const method& m) const {
    const std::int64_t x = kind->vectors == coherence::replicated ? held : held + received;
    const auto product = static_cast<double>(matrix_bytes(cuda_format) + value_bytes * (x + owned));
    return products(m) * product +
           vector_passes(m).value() * static_cast<double>(value_bytes * held);
}

namespace {

/// Fills in what formats make of the blocks of an operator like `f.kind`.
template <class T>
void add_blocks(footprint& f, const csr_view<T>& matrix, const halo_plan& plan) {
    const bool local = f.kind->vectors == coherence::owned; // others keep global columns
    // Results that are sent are stored into other devices' memory.
    const result_use use =
        f.devices > 1 && f.kind->sends == sent_data::results ? result_use::sent : result_use::own;
    for (int part = 0; part < f.devices; ++part) {
        const row_range rows = plan.rows.owned(part);
        const auto offsets = matrix.row_offsets.subspan(static_cast<std::size_t>(rows.begin),
                                                        static_cast<std::size_t>(rows.size()) + 1);
        auto columns = matrix.column_indices.subspan(
            static_cast<std::size_t>(offsets.front()),
            static_cast<std::size_t>(offsets.back() - offsets.front()));
        std::vector<std::int32_t> renumbered;
        if (local) {
            renumbered.resize(columns.size());
            localize_columns(plan, part, matrix.row_offsets, matrix.column_indices, renumbered);
            columns = renumbered;
        }
        add_formats(f, {offsets, columns, f.value_bytes});
        f.cuda_format = least_regular(f.cuda_format, choose_format(offsets, use));
    }
}

/// Fills in the vectors of an operator whose rows are those of the halo plan.
void add_vectors(footprint& f, const halo_plan& plan) {
    const bool replicated = f.kind->vectors == coherence::replicated;
    const std::int64_t all = plan.rows.rows();
    for (int part = 0; part < f.devices; ++part) {
        const std::int64_t owned = plan.rows.owned(part).size();
        const std::int64_t received = f.kind->received(plan, part);
        f.parts.push_back({replicated ? all : owned, received});
        f.owned = std::max(f.owned, owned);
        f.received = std::max(f.received, received);
        f.moved += received;
    }
    f.held = replicated ? all : f.owned;
}

bool same_blocks(operator_kind one, operator_kind other) {
    return one->vectors == other->vectors && one->sends == other->sends;
}

} // namespace

template <class T>
std::vector<footprint> footprints(const csr_view<T>& matrix, std::span<const int> device_counts,
                                  const machine_rates& rates) {
    std::vector<footprint> result;
    const longest_row longest = find_longest_row(matrix.row_offsets);
    for (const int devices : device_counts) {
        const halo_plan plan = make_halo_plan(matrix.row_offsets, matrix.column_indices,
                                              partition_rows(matrix.row_offsets, devices));
        const operator_kind automatic =
            ranked_operators(measure_pattern(plan, matrix.row_offsets, matrix.column_indices,
                                             longest, sizeof(T)),
                             rates)
                .front();
        const auto first = static_cast<std::ptrdiff_t>(result.size());
        for (const operator_kind kind : operators::all) {
            if (devices == 1 ? kind != operators::usual : !kind->listed) continue;
            footprint f;
            f.devices = devices;
            f.kind = kind;
            f.automatic = automatic == kind;
            f.value_bytes = sizeof(T);
            const auto like =
                std::find_if(result.begin() + first, result.end(),
                             [&](const footprint& other) { return same_blocks(other.kind, kind); });
            if (like == result.end()) {
                add_blocks(f, matrix, plan);
            } else {
                f.format_bytes = like->format_bytes;
                f.sell_padding = like->sell_padding;
                f.cuda_format = like->cuda_format;
            }
            add_vectors(f, plan);
            result.push_back(std::move(f));
        }
    }
    return result;
}

template std::vector<footprint> footprints(const csr_view<double>&, std::span<const int>,
                                           const machine_rates&);
template std::vector<footprint> footprints(const csr_view<float>&, std::span<const int>,
                                           const machine_rates&);

} // namespace krylith::tool
