#include <krylith/graph/frontier/group_matrix.hpp>

#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::spmspv {

template <class M>
group_matrix<M>::group_matrix(device_group group, const csr_view<M>& a)
    : group_(std::move(group)), size_(a.rows), nonzeros_(a.nnz()) {
    if (a.rows != a.columns)
        throw input_error(
            "a matrix partitioned over a group for sparse products must be square, not " +
            std::to_string(a.rows) + " x " + std::to_string(a.columns));
    check_index_size("a matrix partitioned over a group: the number of rows", a.rows);
    const row_partition assigned = equal_nonzeros(a.row_offsets, group_.size(), 32);
    for (int rank = 0; rank < group_.size(); ++rank) {
        const row_range rows = assigned.owned(rank);
        if (rows.size() == 0) continue;
        local_.push_back(
            {rank,
             rows,
             std::make_shared<const csr_csc_pair<M>>(group_.handle(rank), a, rows.begin, rows.end),
             {}});
    }
    send_lengths();
}

template <class M>
csr_matrix<M> group_matrix<M>::download(bool with_values) const {
    csr_matrix<M> all;
    all.rows = all.columns = size_;
    all.row_offsets.reserve(as_size(size_) + 1);
    all.column_indices.resize(as_size(nonzeros_));
    if (with_values) all.values.resize(as_size(nonzeros_));
    std::vector<std::int32_t> offsets;
    for (const local_rows& m : local_) {
        const auto rows = m.part->by_rows();
        device& on = group_[m.rank];
        const std::int64_t before = all.row_offsets.back();
        offsets.resize(as_size(m.rows.size()) + 1);
        on.download(offsets.data(), rows.offsets, offsets.size() * sizeof(std::int32_t));
        on.download(all.column_indices.data() + before, rows.indices,
                    as_size(rows.nonzeros) * sizeof(std::int32_t));
        if (with_values)
            on.download(all.values.data() + before, rows.values,
                        as_size(rows.nonzeros) * sizeof(M));
        for (std::size_t i = 1; i < offsets.size(); ++i)
            all.row_offsets.push_back(before + offsets[i]);
    }
    return all;
}

template <class M>
void group_matrix<M>::send_lengths() {
    const std::size_t parts = local_.size();
    if (parts == 1) {
        local_[0].lengths.offsets[0] = local_[0].part->by_columns().offsets;
        local_[0].lengths.parts = 1;
        return;
    }
    for (local_rows& owner : local_) {
        const std::size_t count = as_size(owner.rows.size()) + 1;
        lengths_.emplace_back(group_.handle(owner.rank), count * parts, "lengths of columns");
        owner.lengths.parts = static_cast<std::int32_t>(parts);
        for (std::size_t p = 0; p < parts; ++p) {
            std::int32_t* const to = lengths_.back().data() + p * count;
            const local_rows& from = local_[p];
            group_.copy(from.rank, from.part->by_columns().offsets + owner.rows.begin, owner.rank,
                        to, count * sizeof(std::int32_t));
            owner.lengths.offsets[p] = to;
        }
    }
    group_.join();
}

#define KRYLITH_INSTANTIATE(T) template class group_matrix<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::spmspv
