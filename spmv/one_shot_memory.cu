#include <krylith/spmv/one_shot_kernels.hpp>
#include <krylith/spmv/one_shot_memory.hpp>

namespace krylith::cuda {

template <class T>
void one_shot_memory<T>::reserve(const std::shared_ptr<device>& where,
                                 const one_shot_call<T>& call, int part, bool all_direct) {
    const one_shot_plan& plan = call.plan;
    const bool rowwise = by_rows(plan.form);
    const line_share whole = plan.share(part);
    check_index_size("one_shot_product: entries of a part", whole.entries());
    const std::size_t entries = as_size(whole.entries());
    pieces.clear();
    std::int64_t rows_before = 0;
    std::int64_t pointers_before = 0;
    std::size_t tiles_before = 0;
    for (int j = 0; j < plan.pieces; ++j) {
        const line_share share = plan.shares[as_size(part) * as_size(plan.pieces) + as_size(j)];
        pieces.push_back({share, rows_before, pointers_before, tiles_before});
        const std::int64_t count = rowwise ? share.lines() : call.a.rows;
        rows_before += count;
        pointers_before += count + 1;
        constexpr std::size_t aligned = 256;
        tiles_before += (merge_scratch_bytes<T>(count, share.entries()) + aligned - 1) / aligned *
                        aligned;
    }
    const std::size_t results = as_size(plan.results_of(part).size());
    const std::size_t lines = as_size(whole.lines()) + 1;
    if (compressed(plan.form)) grow(where, offsets, lines);
    if (plan.form == one_shot_form::csc) grow(where, column_pointers, lines);
    grow(where, pointers, as_size(pointers_before));
    if (plan.form != one_shot_form::csr) grow(where, rows, entries);
    grow(where, columns, entries);
    grow(where, values, entries);
    grow(where, tiles, tiles_before);
    grow(where, sums, as_size(rows_before));
    grow(where, y, results);
    const std::size_t from_peers = all_direct ? 0 : as_size(plan.parts()) * results;
    grow(where, inbox, rowwise ? as_size(one_shot_terms<T>::most) : from_peers);
    if (rowwise) return;
    grow(where, sorted_rows, entries);
    grow(where, order, entries);
    grow(where, products, entries);
    const auto count = static_cast<std::int32_t>(entries);
    if (grow(where, positions, entries)) number(*where, positions.data(), count);
    if (grow(where, ones, entries)) fill_ones(*where, ones.data(), count);
    grow(where, sorting, sort_by_row_bytes(*where, count, call.a.rows));
}

template struct one_shot_memory<double>;
template struct one_shot_memory<float>;

} // namespace krylith::cuda
