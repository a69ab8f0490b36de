// Patterns that devices get from host memory.
#include <krylith/distributed/source/cut_rows.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/distributed/source/resident_matrix.hpp>

#include <krylith/config.hpp>
#if KRYLITH_HAVE_CUDA

#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/transport/transfers.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

/// Allocates the arrays of a rank's rows, and adds their transfers.
template <class T>
void add_rows(const std::shared_ptr<device>& device, const csr_view<T>& matrix, row_range rows,
              resident_rows& to, std::vector<upload_request>& requests) {
    const auto offsets = matrix.row_offsets.subspan(as_size(rows.begin), as_size(rows.size()) + 1);
    const auto first = as_size(offsets.front());
    const auto columns = matrix.column_indices.subspan(first, as_size(offsets.back()) - first);
    to.offsets = buffer<std::int64_t>(device, offsets.size(), set_up_item);
    to.uploaded = buffer<std::int32_t>(device, columns.size(), set_up_item);
    to.columns = to.uploaded.data();
    requests.push_back({device.get(), to.offsets.data(), offsets.data(), offsets.size_bytes()});
    requests.push_back({device.get(), to.uploaded.data(), columns.data(), columns.size_bytes()});
}

/// Looks at the rows of a rank, the first of whose offsets is `first`, and counts them from 0.
/// Returns whether they are valid.
bool check_rows(const std::shared_ptr<device>& device, std::int64_t rows, std::int64_t first,
                std::int64_t columns, resident_rows& to) {
    cuda::move_indices(*device, to.offsets.data(), rows + 1, first, to.offsets.data());
    const auto [lengths, descends] = cuda::measure_lengths(device, to.offsets.data(), rows);
    to.lengths = lengths;
    return !descends &&
           !cuda::has_bad_column(device, to.columns, static_cast<std::int64_t>(to.uploaded.size()),
                                 columns);
}

} // namespace

template <class T>
std::shared_ptr<resident_matrix> upload_pattern(const communicator& comm, const csr_view<T>& matrix,
                                                const row_partition& rows) {
    bool valid = can_be_cut(matrix, rows);
    auto result = std::make_shared<resident_matrix>(
        resident_matrix{comm, rows, matrix.columns,
                        std::vector<resident_rows>(static_cast<std::size_t>(comm.ranks()))});
    std::vector<upload_request> requests;
    for (const int rank : comm.local())
        if (valid)
            add_rows(comm.handle(rank), matrix, rows.owned(rank),
                     result->parts[static_cast<std::size_t>(rank)], requests);
    upload_together(requests);
    for (const int rank : comm.local()) {
        if (!valid) break;
        const row_range mine = rows.owned(rank);
        valid = check_rows(comm.handle(rank), mine.size(), matrix.row_offsets[as_size(mine.begin)],
                           matrix.columns, result->parts[static_cast<std::size_t>(rank)]);
    }
    if (!comm.any(!valid)) {
        result->share_lengths();
        return result;
    }
    (void)validate(matrix); // names what is wrong
    throw input_error("make_operator: the devices found the pattern invalid, but the host finds it "
                      "valid: the arrays must not change while an operator is made");
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::shared_ptr<resident_matrix> upload_pattern(                                      \
        const communicator&, const csr_view<T>&, const row_partition&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

#endif
