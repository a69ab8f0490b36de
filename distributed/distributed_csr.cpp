#include <krylith/distributed/distributed_csr.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <krylith/comm/exchange/alike.hpp>
#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/transport/transfers.hpp>
#include <krylith/distributed/products/copied_part.hpp>
#include <krylith/distributed/products/numbered_columns.hpp>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/distributed/source/cut_rows.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/distributed/source/partition_check.hpp>
#include <krylith/distributed/source/pointer_check.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

/// Says what is wrong with a matrix.
template <class T>
[[noreturn]] void refuse(const csr_view<T>& a) {
    (void)validate(a);
    throw input_error(
        "distributed_csr: the devices found the matrix invalid, but the host finds it "
        "valid: the arrays must not change meanwhile");
}

/// Allocates the arrays of a rank's rows, and adds their transfers; offsets will not be from 0.
template <class T>
void add_rows(const std::shared_ptr<device>& device, const csr_view<T>& a, row_range rows,
              copied_part<T>& to, std::vector<upload_request>& requests) {
    const auto offsets = a.row_offsets.subspan(as_size(rows.begin), as_size(rows.size()) + 1);
    const auto first = as_size(offsets.front());
    const auto count = as_size(offsets.back()) - first;
    to.offsets = buffer<std::int64_t>(device, offsets.size(), matrix_item);
    to.columns = buffer<std::int32_t>(device, count, matrix_item);
    to.values = buffer<T>(device, count, matrix_item);
    requests.push_back({device.get(), to.offsets.data(), offsets.data(), offsets.size_bytes()});
    requests.push_back({device.get(), to.columns.data(), a.column_indices.data() + first,
                        count * sizeof(std::int32_t)});
    requests.push_back(
        {device.get(), to.values.data(), a.values.data() + first, count * sizeof(T)});
}

} // namespace

template <class T>
distributed_csr<T>::distributed_csr(const communicator& comm, const csr_view<T>& a,
                                    row_partition rows, row_partition columns)
    : comm_(std::make_shared<const communicator>(comm)),
      rows_(std::move(rows)),
      columns_(std::move(columns)) {
    comm.together([&] {
        require_alike(comm, "distributed_csr", [&] {
            return std::vector<named_fact>{{"rows", std::to_string(a.rows)},
                                           {"columns", std::to_string(a.columns)},
                                           {"nonzeros", std::to_string(a.column_indices.size())}};
        });
        check_partition("distributed_csr", "rows", rows_, a.rows, comm);
        check_partition("distributed_csr", "columns", columns_, a.columns, comm);
        check_index_size("distributed_csr: the number of columns", a.columns);
        if (!can_be_cut(a, rows_)) refuse(a);
        blocks_.resize(as_size(comm.ranks()));
        columns_of_.resize(as_size(comm.ranks()));
        std::vector<copied_part<T>> parts(as_size(comm.ranks()));
        std::vector<upload_request> requests;
        for (const int rank : comm.local())
            add_rows(comm.handle(rank), a, rows_.owned(rank), parts[at(rank)], requests);
        upload_together(requests);
        std::vector<char> valid(parts.size(), 1); // of each rank, written by threads of their own
        on_each_rank(comm, [&](int rank) {
            const auto& device = comm.handle(rank);
            copied_part<T>& mine = parts[at(rank)];
            const row_range rows = rows_.owned(rank);
            run_items(*device,
                      shift_offsets<std::int64_t>{mine.offsets.data(),
                                                  -a.row_offsets[as_size(rows.begin)],
                                                  mine.offsets.data()},
                      rows.size() + 1);
            std::optional<local_columns> numbers;
            if (!offsets_descend(device, mine.offsets))
                numbers = number_columns(device, columns_.owned(rank), a.columns, mine.columns);
            valid[at(rank)] = numbers ? 1 : 0;
            if (!numbers) return;
            blocks_[at(rank)] = {device, numbers->count(), std::move(mine.offsets),
                                 std::move(mine.columns), std::move(mine.values)};
            columns_of_[at(rank)] = *std::move(numbers);
        });
        if (comm.any(std::count(valid.begin(), valid.end(), 0) != 0)) refuse(a);
        count_nonzeros();
    });
}

template <class T>
void distributed_csr<T>::count_nonzeros() {
    nonzeros_of_ = by_rank(*comm_, [&](int rank) { return block(rank).nonzeros(); });
    comm_->all_gather(nonzeros_of_);
}

template <class T>
distributed_csr<T>::distributed_csr(const communicator& comm, std::span<const csr_part<T>> parts,
                                    row_partition columns, part_values values)
    : comm_(std::make_shared<const communicator>(comm)), columns_(std::move(columns)) {
    comm.together([&] {
        if (parts.size() != as_size(comm.ranks()))
            throw usage_error("distributed_csr: " + std::to_string(parts.size()) + " parts for " +
                              std::to_string(comm.ranks()) + " devices");
        for (const int rank : comm.local())
            if (parts[at(rank)].rows < 0)
                throw usage_error("distributed_csr: part " + std::to_string(rank) + ": " +
                                  std::to_string(parts[at(rank)].rows) +
                                  " rows, allowed are 0 and more");
        rows_ = rows_of_parts(comm, [&](int rank) { return parts[at(rank)].rows; });
        check_partition("distributed_csr", "rows", rows_, rows_.rows(), comm);
        check_partition("distributed_csr", "columns", columns_, columns_.rows(), comm);
        blocks_.resize(parts.size());
        columns_of_.resize(parts.size());
        on_each_rank(comm, [&](int rank) {
            const auto& device = comm.handle(rank);
            const std::int64_t first = rows_.owned(rank).begin;
            copied_part<T> mine =
                copy_part(device, {rank, first, columns_.owned(rank), columns_.rows()},
                          parts[at(rank)], values);
            columns_of_[at(rank)] = std::move(mine.numbers);
            const std::int64_t count = columns_of_[at(rank)].count();
            blocks_[at(rank)] =
                values == part_values::borrowed
                    ? device_csr<T>(device, count, std::move(mine.offsets), std::move(mine.columns),
                                    borrowed_values<T>{parts[at(rank)].values})
                    : device_csr<T>(device, count, std::move(mine.offsets), std::move(mine.columns),
                                    std::move(mine.values));
        });
        count_nonzeros();
    });
}

template <class T>
distributed_csr<T>::distributed_csr(const communicator& comm, row_partition rows,
                                    row_partition columns, std::vector<device_csr<T>> blocks,
                                    std::vector<local_columns> numbers_of)
    : comm_(std::make_shared<const communicator>(comm)),
      rows_(std::move(rows)),
      columns_(std::move(columns)),
      blocks_(std::move(blocks)),
      columns_of_(std::move(numbers_of)) {
    check_partition("distributed_csr", "rows", rows_, rows_.rows(), comm);
    check_partition("distributed_csr", "columns", columns_, columns_.rows(), comm);
    if (blocks_.size() != as_size(comm.ranks()) || columns_of_.size() != blocks_.size())
        throw usage_error("distributed_csr: " + std::to_string(blocks_.size()) + " blocks and " +
                          std::to_string(columns_of_.size()) + " sets of columns for " +
                          std::to_string(comm.ranks()) + " devices");
    for (const int rank : comm.local()) {
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
    count_nonzeros();
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
    if (comm_ == nullptr) return true;
    return comm_->together([&] {
        std::vector<char> ascend(blocks_.size(), 1); // of each rank, written by threads of its own
        on_each_rank(*comm_, [&](int rank) {
            ascend[at(rank)] = columns_ascend(comm_->handle(rank), block(rank).pattern()) ? 1 : 0;
        });
        return !comm_->any(std::count(ascend.begin(), ascend.end(), 0) != 0);
    });
}

template <class T>
std::vector<const T*> distributed_csr<T>::values() const {
    std::vector<const T*> all;
    for (const device_csr<T>& one : blocks_) all.push_back(one.view().values);
    return all;
}

/// All drivers take new values, or none does.
template <class T>
template <class ByRank>
void distributed_csr<T>::take_values(const std::string& called, const ByRank& by_rank) {
    if (comm_ == nullptr) return (void)by_rank(); // an empty one
    std::vector<upload_request> uploads;
    std::vector<upload_request> copies; // of what is on the device already
    comm_->together([&] {
        const std::vector<const T*> given = by_rank();
        for (const int rank : comm_->local()) {
            const std::size_t bytes = as_size(nonzeros_of_[at(rank)]) * sizeof(T);
            if (bytes == 0) continue;
            if (block(rank).values() == nullptr)
                throw usage_error(called + ": the matrix has no values of its own: "
                                           "borrowed ones are their owner's to change");
            device& on = (*comm_)[rank];
            const T* const from = given[at(rank)];
            const bool in_host = from != nullptr && on.lies_elsewhere(from) == host_memory_name;
            if (!in_host)
                check_pointer(on, called + ": part " + std::to_string(rank) + ": ", from, "values");
            (in_host ? uploads : copies).push_back({&on, block(rank).values(), from, bytes});
        }
    });
    comm_->together([&] {
        for (const upload_request& one : copies) one.device->copy(one.to, one.from, one.bytes);
        upload_together(uploads);
        comm_->synchronize(); // arrays may be reused
    });
}

template <class T>
std::vector<const T*> distributed_csr<T>::cut_values(const std::string& called, int first, int last,
                                                     std::span<const T> values) const {
    std::vector<const T*> by_rank(blocks_.size(), nullptr);
    std::int64_t expected = 0;
    for (int rank = first; rank < last; ++rank) {
        if (expected <= static_cast<std::int64_t>(values.size()))
            by_rank[at(rank)] = values.data() + expected;
        expected += nonzeros_of_[at(rank)];
    }
    if (static_cast<std::int64_t>(values.size()) != expected)
        throw usage_error(called + ": there are " + std::to_string(values.size()) +
                          " values; the matrix has " + std::to_string(expected) + " nonzeros" +
                          (expected == nonzeros() ? "" : " in the rows of this driver"));
    return by_rank;
}

template <class T>
void distributed_csr<T>::update(std::span<const T> values) {
    const std::string called = "distributed_csr::update";
    take_values(called,
                [&] { return cut_values(called, 0, static_cast<int>(blocks_.size()), values); });
}

template <class T>
void distributed_csr<T>::update_local(std::span<const T> values) {
    const std::string called = "distributed_csr::update_local";
    take_values(called, [&] {
        const bool none = comm_ == nullptr || comm_->local().empty();
        return none ? cut_values(called, 0, 0, values)
                    : cut_values(called, comm_->local().front(), comm_->local().back() + 1, values);
    });
}

template <class T>
void distributed_csr<T>::update_parts(std::span<const T* const> by_rank) {
    const std::string called = "distributed_csr::update_parts";
    take_values(called, [&] {
        if (by_rank.size() != blocks_.size())
            throw usage_error(called + ": " + std::to_string(by_rank.size()) + " arrays for " +
                              std::to_string(blocks_.size()) + " devices");
        return std::vector<const T*>(by_rank.begin(), by_rank.end());
    });
}

template <class T>
buffer<std::int32_t> distributed_csr<T>::global_columns(int rank) const {
    check_index_size("the number of columns of a matrix whose rows are exchanged or made whole",
                     columns());
    const device_csr_view<T> a = block(rank).view();
    buffer<std::int32_t> global(comm_->handle(rank), as_size(a.nonzeros), matrix_item);
    run_items((*comm_)[rank], number_globally{columns_of(rank).numbers(), a.indices, global.data()},
              a.nonzeros);
    return global;
}

template <class T>
distributed_csr<T> distributed_csr<T>::copy(part_values values) const {
    if (values == part_values::copied)
        return with_values<T>(matrix_item, [&](int rank, T* to) {
            const device_csr_view<T> from = block(rank).view();
            if (from.nonzeros != 0)
                (*comm_)[rank].copy(to, from.values, as_size(from.nonzeros) * sizeof(T));
        });
    auto blocks = by_rank(*comm_, [&](int rank) {
        return block(rank).with_values(borrowed_values<T>(block(rank).view().values));
    });
    return {*comm_, rows_, columns_, std::move(blocks), columns_of_};
}

template <class T>
csr_matrix<T> distributed_csr<T>::download() const {
    csr_matrix<T> all;
    all.rows = rows();
    all.columns = columns();
    if (comm_ != nullptr) comm_->together([&] { download_to(all); });
    return all;
}

template <class T>
void distributed_csr<T>::download_to(csr_matrix<T>& all) const {
    const communicator& comm = *comm_;
    std::vector<std::vector<std::int64_t>> offsets(blocks_.size());
    std::vector<std::vector<T>> values(blocks_.size());
    for (const int rank : comm.local()) {
        csr_matrix<T> mine = block(rank).download();
        offsets[at(rank)] = std::move(mine.row_offsets);
        values[at(rank)] = std::move(mine.values);
    }
    auto columns = by_rank(comm, [&](int rank) { return global_columns(rank).download(); });
    comm.all_gather_lists(offsets);
    comm.all_gather_lists(columns);
    comm.all_gather_lists(values);
    for (std::size_t rank = 0; rank < offsets.size(); ++rank) {
        const std::int64_t before = all.row_offsets.back();
        for (std::size_t i = 1; i < offsets[rank].size(); ++i)
            all.row_offsets.push_back(before + offsets[rank][i]);
        all.column_indices.insert(all.column_indices.end(), columns[rank].begin(),
                                  columns[rank].end());
        all.values.insert(all.values.end(), values[rank].begin(), values[rank].end());
    }
}

#define KRYLITH_INSTANTIATE(T) template class distributed_csr<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
