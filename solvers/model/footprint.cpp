#include <krylith/solvers/model/footprint.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/sparse/pattern/sell_layout.hpp>
#include <krylith/sparse/selection/format_choice.hpp>
#include <krylith/spmv/cost_model.hpp>

namespace krylith::model {

namespace {

/// The bytes of the fullest device, as matrix_bytes() of the formats says once they exist.
void add_formats(footprint& f, const block_pattern& block) {
    for (const format_kind format : formats::all)
        f.matrix_bytes(format) = std::max(f.matrix_bytes(format), format->matrix_bytes(block));
    f.sell_padding = std::max(f.sell_padding, make_sell_layout(block.offsets).padding());
}

} // namespace

std::int64_t& footprint::matrix_bytes(format_kind format) {
    return format_bytes.at(
        static_cast<std::size_t>(std::ranges::find(formats::all, format) - formats::all.begin()));
}

std::int64_t footprint::matrix_bytes(format_kind format) const {
    return footprint(*this).matrix_bytes(format);
}

method_bytes footprint::bytes_of(const method& m) const {
    const solver_vectors count = vectors(m); // with b and x
    method_bytes most;
    for (const part& p : parts) {
        const std::int64_t ghosts = kind->vectors == coherence::replicated ? 0 : p.received;
        const auto own = preconditioner_bytes(m, {p.held, p.nnz, value_bytes, ghosts});
        if (!own)
            throw usage_error("no model says what preconditioner " + std::string(m.preconditioner) +
                              " keeps");
        const std::int64_t entries = (count.range - 2) * p.held + count.domain * (p.held + ghosts);
        const method_bytes here{2 * value_bytes * p.held, value_bytes * entries, *own};
        if (here.total() > most.total()) most = here;
    }
    return most;
}

double footprint::iteration_bytes(const method& m) const {
    const std::int64_t x = kind->vectors == coherence::replicated ? held : held + received;
    const auto product = static_cast<double>(matrix_bytes(cuda_format) + value_bytes * (x + owned));
    std::int64_t nnz = 0;
    for (const part& p : parts) nnz = std::max(nnz, p.nnz);
    return products(m) * product +
           vector_passes(m).value() * static_cast<double>(value_bytes * held) +
           preconditioner_traffic(m, {held, nnz, value_bytes}).value();
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
        f.cuda_format = least_regular(f.cuda_format, choose_format(measure_lengths(offsets), use));
    }
}

/// Fills in the vectors of an operator whose rows are those of the halo plan.
void add_vectors(footprint& f, const halo_plan& plan, std::span<const std::int64_t> row_offsets) {
    const bool replicated = f.kind->vectors == coherence::replicated;
    const std::int64_t all = plan.rows.rows();
    for (int part = 0; part < f.devices; ++part) {
        const row_range rows = plan.rows.owned(part);
        const std::int64_t owned = rows.size();
        const std::int64_t nonzeros = row_offsets[static_cast<std::size_t>(rows.end)] -
                                      row_offsets[static_cast<std::size_t>(rows.begin)];
        const std::int64_t received = f.kind->received(plan, part);
        f.parts.push_back({replicated ? all : owned, received, nonzeros});
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
                                              partition_rows(matrix, devices));
        const operator_kind automatic =
            ranked_operators(measure_pattern(plan, matrix.row_offsets, matrix.column_indices,
                                             longest, sizeof(T)),
                             rates)
                .front();
        const auto first = static_cast<std::ptrdiff_t>(result.size());
        for (const operator_kind kind : operators::all) {
            const bool known = kind->listed && kind->received != nullptr;
            if (devices == 1 ? kind != operators::usual : !known) continue;
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
            add_vectors(f, plan, matrix.row_offsets);
            result.push_back(std::move(f));
        }
    }
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::vector<footprint> footprints(const csr_view<T>&, std::span<const int>,           \
                                               const machine_rates&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::model
