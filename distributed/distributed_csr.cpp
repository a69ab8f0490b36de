#include <krylith/distributed/distributed_csr.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/threads/each_rank.hpp>
#include <krylith/distributed/products/copied_part.hpp>
#include <krylith/distributed/products/numbered_columns.hpp>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

void check_partition(const char* what, const row_partition& partition, std::int64_t size,
                     const device_group& group) {
    if (partition.ranks() != group.size())
        throw usage_error(std::string("distributed_csr: the partition of ") + what + " has " +
                          std::to_string(partition.ranks()) + " ranks for " +
                          std::to_string(group.size()) + " devices");
    check(partition, size);
    check_index_size(std::string("distributed_csr: the number of ") + what, size);
}

} // namespace

template <class T>
distributed_csr<T>::distributed_csr(const device_group& group, const csr_view<T>& a,
                                    row_partition rows, row_partition columns)
    : group_(std::make_shared<const device_group>(group)),
      rows_(std::move(rows)),
      columns_(std::move(columns)) {
    validate_pattern(a);
    if (a.values.size() != a.column_indices.size())
        throw input_error("distributed_csr: there are " + std::to_string(a.values.size()) +
                          " values for " + std::to_string(a.column_indices.size()) +
                          " column indices");
    check_partition("rows", rows_, a.rows, group);
    check_partition("columns", columns_, a.columns, group);
    blocks_.resize(as_size(group.size()));
    columns_of_.resize(as_size(group.size()));
    on_each_rank(group, [&](int rank) {
        const auto& device = group.handle(rank);
        const row_range mine = rows_.owned(rank);
        std::vector<std::int64_t> starts(a.row_offsets.begin() + mine.begin,
                                         a.row_offsets.begin() + mine.end +
                                             1); // a matrix of 0 rows has an offset
        const std::size_t first = as_size(starts.front());
        for (std::int64_t& start : starts) start -= static_cast<std::int64_t>(first);
        const std::size_t count = as_size(starts.back());
        buffer<std::int64_t> offsets(device, std::span<const std::int64_t>(starts), matrix_item);
        buffer<std::int32_t> indices(device, a.column_indices.subspan(first, count), matrix_item);
        buffer<T> values(device, a.values.subspan(first, count), matrix_item);
        local_columns& numbers = columns_of_[at(rank)];
        numbers = number_columns(device, columns_.owned(rank), a.columns, indices).value();
        blocks_[at(rank)] = {device, numbers.count(), std::move(offsets), std::move(indices),
                             std::move(values)};
    });
}

template <class T>
distributed_csr<T>::distributed_csr(const device_group& group, std::span<const csr_part<T>> parts,
                                    row_partition columns, part_values values)
    : group_(std::make_shared<const device_group>(group)), columns_(std::move(columns)) {
    if (parts.size() != as_size(group.size()))
        throw usage_error("distributed_csr: " + std::to_string(parts.size()) + " parts for " +
                          std::to_string(group.size()) + " devices");
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
        if (parts[rank].rows < 0)
            throw usage_error("distributed_csr: part " + std::to_string(rank) + ": " +
                              std::to_string(parts[rank].rows) + " rows, allowed are 0 and more");
        rows_.begin.push_back(rows_.begin.back() + parts[rank].rows);
    }
    check_partition("rows", rows_, rows_.rows(), group);
    check_partition("columns", columns_, columns_.rows(), group);
    blocks_.resize(parts.size());
    columns_of_.resize(parts.size());
    on_each_rank(group, [&](int rank) {
        const auto& device = group.handle(rank);
        const std::int64_t first = rows_.owned(rank).begin;
        copied_part<T> mine = copy_part(device, rank, parts[at(rank)], first, values);
        auto numbers = number_columns(device, columns_.owned(rank), columns_.rows(), mine.columns);
        if (!numbers) refuse_columns(rank, mine, first, columns_.rows());
        columns_of_[at(rank)] = *std::move(numbers);
        const std::int64_t count = columns_of_[at(rank)].count();
        blocks_[at(rank)] =
            values == part_values::borrowed
                ? device_csr<T>(device, count, std::move(mine.offsets), std::move(mine.columns),
                                borrowed_values<T>{parts[at(rank)].values})
                : device_csr<T>(device, count, std::move(mine.offsets), std::move(mine.columns),
                                std::move(mine.values));
    });
}

template <class T>
distributed_csr<T>::distributed_csr(const device_group& group, row_partition rows,
                                    row_partition columns, std::vector<device_csr<T>> blocks,
                                    std::vector<local_columns> numbers_of)
    : group_(std::make_shared<const device_group>(group)),
      rows_(std::move(rows)),
      columns_(std::move(columns)),
      blocks_(std::move(blocks)),
      columns_of_(std::move(numbers_of)) {
    check_partition("rows", rows_, rows_.rows(), group);
    check_partition("columns", columns_, columns_.rows(), group);
    if (blocks_.size() != as_size(group.size()) || columns_of_.size() != blocks_.size())
        throw usage_error("distributed_csr: " + std::to_string(blocks_.size()) + " blocks and " +
                          std::to_string(columns_of_.size()) + " sets of columns for " +
                          std::to_string(group.size()) + " devices");
    for (int rank = 0; rank < group.size(); ++rank) {
        const device_csr<T>& mine = block(rank);
        const local_columns& numbers = columns_of(rank);
        if (mine.rows() == rows_.owned(rank).size() && mine.columns() == numbers.count() &&
            numbers.owned() == columns_.owned(rank))
            continue;
        throw usage_error("distributed_csr: block " + std::to_string(rank) + " is " +
                          std::to_string(mine.rows()) + " x " + std::to_string(mine.columns()) +
                          "; the rank owns " + std::to_string(rows_.owned(rank).size()) +
                          " rows and has " + std::to_string(numbers.count()) +
                          " local columns, of which it must own those of the partition");
    }
}

template <class T>
std::int64_t distributed_csr<T>::nonzeros() const noexcept {
    std::int64_t sum = 0;
    for (const device_csr<T>& one : blocks_) sum += one.nonzeros();
    return sum;
}

template <class T>
std::int64_t distributed_csr<T>::bytes() const noexcept {
    std::int64_t most = 0;
    for (std::size_t k = 0; k < blocks_.size(); ++k)
        most = std::max(most, blocks_[k].bytes() + columns_of_[k].bytes());
    return most;
}

template <class T>
bool distributed_csr<T>::rows_ascend() const {
    if (group_ == nullptr) return true;
    std::vector<char> ascend(blocks_.size(), 1); // of each rank, written by threads of their own
    on_each_rank(*group_, [&](int rank) {
        if (block(rank).ascends()) return;
        const device_csr_view<T> a = block(rank).view();
        ascend[at(rank)] =
            columns_ascend(group_->handle(rank), {a.rows, a.nonzeros, a.offsets, a.indices}) ? 1
                                                                                             : 0;
    });
    return std::count(ascend.begin(), ascend.end(), 0) == 0;
}

template <class T>
buffer<std::int32_t> distributed_csr<T>::global_columns(int rank) const {
    const device_csr_view<T> a = block(rank).view();
    buffer<std::int32_t> global(group_->handle(rank), as_size(a.nonzeros), matrix_item);
    run_items((*group_)[rank],
              number_globally{columns_of(rank).numbers(), a.indices, global.data()}, a.nonzeros);
    return global;
}

template <class T>
csr_matrix<T> distributed_csr<T>::download() const {
    csr_matrix<T> all;
    all.rows = rows();
    all.columns = columns();
    for (int rank = 0; group_ != nullptr && rank < group_->size(); ++rank) {
        const csr_matrix<T> mine = block(rank).download();
        const std::int64_t before = all.row_offsets.back();
        for (std::size_t i = 1; i < mine.row_offsets.size(); ++i)
            all.row_offsets.push_back(before + mine.row_offsets[i]);
        const std::vector<std::int32_t> global = global_columns(rank).download();
        all.column_indices.insert(all.column_indices.end(), global.begin(), global.end());
        all.values.insert(all.values.end(), mine.values.begin(), mine.values.end());
    }
    return all;
}

#define KRYLITH_INSTANTIATE(T) template class distributed_csr<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
