#include <krylith/spmv/streaming/streamed_range.hpp>

#include <algorithm>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/merge/merge_product.hpp>
#include <krylith/spmv/streaming/streamed_kernels.hpp>

namespace krylith::cuda {

template <class T>
void one_shot_part<T>::reserve(const one_shot_call<T>& call, int part, bool all_direct) {
    const one_shot_plan& plan = call.plan;
    form = plan.form;
    whole = plan.share(part);
    rows_of_matrix = call.a.rows;
    check_index_size("one_shot_product: entries of a part", whole.entries());
    pieces.clear();
    piece next{{}, 0, 0, 0, 0};
    for (int j = 0; j < plan.pieces; ++j) {
        constexpr std::size_t aligned = 256;
        next.share = plan.shares[as_size(part) * as_size(plan.pieces) + as_size(j)];
        next.rows = by_rows(form) ? next.share.lines() : call.a.rows;
        pieces.push_back(next);
        next.first_row += next.rows;
        next.first_pointer += next.rows + 1;
        const std::size_t scratch = merge_scratch_bytes<T>(next.rows, next.share.entries());
        next.first_tile += (scratch + aligned - 1) / aligned * aligned;
    }
    const std::size_t count = as_size(whole.entries());
    const std::size_t results = as_size(plan.results_of(part).size());
    const std::size_t lines = as_size(whole.lines()) + 1;
    if (compressed(form)) grow(offsets, lines);
    if (form == one_shot_form::csc) grow(column_pointers, lines);
    grow(pointers, as_size(next.first_pointer));
    if (form != one_shot_form::csr) grow(rows, count);
    grow(columns, count);
    grow(values, count);
    grow(tiles, next.first_tile);
    grow(sums, as_size(next.first_row));
    grow(y, results);
    const std::size_t from_peers = all_direct ? 0 : as_size(plan.parts()) * results;
    grow(inbox, by_rows(form) ? as_size(one_shot_terms<T>::most) : from_peers);
    if (by_rows(form)) return;
    grow(sorted_rows, count);
    grow(order, count);
    grow(products, count);
    if (grow(positions, count)) number(*where, positions.data(), entries());
    if (grow(ones, count)) fill_ones(*where, ones.data(), entries());
    grow(sorting, sort_by_row_bytes(*where, entries(), rows_of_matrix));
}

template <class T>
std::vector<std::pair<std::int32_t, std::int32_t>> one_shot_part<T>::ranges() const {
    std::vector<std::pair<std::int32_t, std::int32_t>> result;
    if (by_rows(form)) {
        for (const piece& p : pieces)
            result.emplace_back(static_cast<std::int32_t>(p.share.start_idx - whole.start_idx),
                                static_cast<std::int32_t>(p.share.end_idx - whole.start_idx));
        return result;
    }
    constexpr std::int64_t usual = std::int64_t{1} << 20;
    const std::int64_t all = whole.entries();
    const std::int64_t count = std::clamp<std::int64_t>(all / usual, 1, most_one_shot_pieces);
    for (std::int64_t i = 0; i < count; ++i)
        result.emplace_back(static_cast<std::int32_t>(all * i / count),
                            static_cast<std::int32_t>(all * (i + 1) / count));
    return result;
}

template <class T>
void one_shot_part<T>::make_pointers() {
    if (form == one_shot_form::csc)
        return part_pointers(*where, offsets.data(), whole, column_pointers.data());
    for (const piece& p : pieces)
        part_pointers(*where, offsets.data() + (p.share.start_line - whole.start_line), p.share,
                      pointers.data() + p.first_pointer);
}

template <class T>
void one_shot_part<T>::find_rows() {
    for (const piece& p : pieces)
        pointers_of_sorted(*where, rows.data() + (p.share.start_idx - whole.start_idx),
                           static_cast<std::int32_t>(p.share.entries()),
                           static_cast<std::int32_t>(p.share.start_line),
                           static_cast<std::int32_t>(p.rows), pointers.data() + p.first_pointer);
}

template <class T>
void one_shot_part<T>::expand_columns() {
    lines_of_pointers(*where, column_pointers.data(), static_cast<std::int32_t>(whole.lines()),
                      entries(), static_cast<std::int32_t>(whole.start_line), columns.data());
}

template <class T>
void one_shot_part<T>::sort() {
    sort_by_row(*where, rows.data(), sorted_rows.data(), positions.data(), order.data(), entries(),
                rows_of_matrix, sorting.data(), sorting.size());
    pointers_of_sorted(*where, sorted_rows.data(), entries(), 0,
                       static_cast<std::int32_t>(rows_of_matrix), pointers.data());
}

template <class T>
void one_shot_part<T>::find_tiles() {
    for (const piece& p : pieces) {
        const std::int32_t* const from = pointers.data() + p.first_pointer;
        if (p.rows > 0)
            find_merge_tiles<T>(*where, from, p.rows, p.share.entries(),
                                tiles.data() + p.first_tile);
    }
}

template <class T>
void one_shot_part<T>::multiply_entries(std::int32_t begin, std::int32_t end) {
    entry_products(*where, values.data(), columns.data(), x.data(), products.data(), begin, end);
}

template <class T>
void one_shot_part<T>::multiply_piece(std::size_t j) {
    const piece& p = pieces[j];
    if (p.rows == 0) return;
    merge_product<T, std::int32_t> product{};
    product.offsets = pointers.data() + p.first_pointer;
    product.rows = p.rows;
    product.nonzeros = p.share.entries();
    product.y = sums.data() + p.first_row;
    product.alpha = T(1);
    if (by_rows(form)) {
        const std::int64_t first = p.share.start_idx - whole.start_idx;
        product.columns = columns.data() + first;
        product.values = values.data() + first;
        product.x = x.data();
    } else {
        product.columns = order.data();
        product.values = ones.data();
        product.x = products.data();
    }
    multiply(*where, product, tiles.data() + p.first_tile);
}

template struct one_shot_part<double>;
template struct one_shot_part<float>;

} // namespace krylith::cuda
