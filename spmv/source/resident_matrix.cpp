#include <krylith/spmv/source/resident_matrix.hpp>

#include <string>
#include <utility>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/transport/transfers.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/spmv/cost/scattered_entries.hpp>

namespace krylith {

longest_row resident_matrix::longest() const {
    longest_row result;
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
        const longest_row& own = parts[rank].lengths.longest;
        if (own.nonzeros > result.nonzeros) result = {rows.begin[rank] + own.row, own.nonzeros};
    }
    return result;
}

row_starts resident_matrix::starts() const {
    std::vector<std::int64_t> before{0};
    for (const resident_rows& part : parts) before.push_back(before.back() + part.lengths.nonzeros);
    return {rows, std::move(before)};
}

#if KRYLITH_HAVE_CUDA

namespace {

const std::string item = "set-up";

/// Whether the arrays have the right sizes and can be cut into these rows.
template <class T>
bool can_be_cut(const csr_view<T>& matrix, const row_partition& rows) {
    const auto& offsets = matrix.row_offsets;
    const auto nonzeros = static_cast<std::int64_t>(matrix.column_indices.size());
    if (offsets.empty() || static_cast<std::int64_t>(offsets.size()) - 1 != matrix.rows ||
        matrix.values.size() != matrix.column_indices.size() || matrix.columns < 0 ||
        matrix.columns > index_size_limit() || offsets.front() != 0 || offsets.back() != nonzeros ||
        rows.rows() != matrix.rows)
        return false;
    for (std::size_t k = 1; k < rows.begin.size(); ++k) {
        const std::int64_t begin = offsets[as_size(rows.begin[k - 1])];
        const std::int64_t end = offsets[as_size(rows.begin[k])];
        if (begin < 0 || end < begin || end > nonzeros) return false;
    }
    return true;
}

/// Allocates the arrays of a rank's rows, and adds their transfers.
template <class T>
void add_rows(const std::shared_ptr<device>& device, const csr_view<T>& matrix, row_range rows,
              resident_rows& to, std::vector<upload_request>& requests) {
    const auto offsets = matrix.row_offsets.subspan(as_size(rows.begin), as_size(rows.size()) + 1);
    const auto first = as_size(offsets.front());
    const auto columns = matrix.column_indices.subspan(first, as_size(offsets.back()) - first);
    to.offsets = buffer<std::int64_t>(device, offsets.size(), item);
    to.uploaded = buffer<std::int32_t>(device, columns.size(), item);
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

/// Finds the rows that touch ghosts, and the ghosts if they are wanted. Returns the rows that touch
/// none.
std::int64_t find_ghosts(resident_matrix& matrix, int rank, row_range owned, bool listed) {
    resident_rows& mine = matrix.parts[static_cast<std::size_t>(rank)];
    const std::int64_t rows = mine.lengths.rows;
    if (matrix.group.size() == 1) return rows; // it owns all columns
    const auto& device = matrix.group.handle(rank);
    mine.touches_ghost = buffer<std::uint8_t>(device, as_size(rows), item);
    mine.ghosts = {};
    return cuda::find_ghosts(
        device, {mine.offsets.data(), mine.columns, rows, mine.lengths.nonzeros}, owned,
        matrix.columns, listed ? &mine.ghosts : nullptr, mine.touches_ghost.data());
}

resident_block numbered(const resident_matrix& matrix, int rank, row_range owned, bool listed) {
    const resident_rows& mine = matrix.parts[static_cast<std::size_t>(rank)];
    resident_block block{mine.pattern(), {}};
    if (matrix.group.size() == 1) return block;
    const auto& device = matrix.group.handle(rank);
    block.columns = buffer<std::int32_t>(device, as_size(mine.lengths.nonzeros), item);
    cuda::localize(*device, mine.columns, mine.lengths.nonzeros, owned,
                   listed ? &mine.ghosts : nullptr, block.columns.data());
    block.pattern.columns = block.columns.data();
    block.pattern.boundary = mine.touches_ghost.data();
    return block;
}

} // namespace

bool makes_operators_there(const device_group& group) noexcept {
    return group.kind() == backend::cuda;
}

template <class T>
std::shared_ptr<resident_matrix>
upload_pattern(const device_group& group, const csr_view<T>& matrix, const row_partition& rows) {
    bool valid = can_be_cut(matrix, rows);
    auto result = std::make_shared<resident_matrix>(
        resident_matrix{group, rows, matrix.columns,
                        std::vector<resident_rows>(static_cast<std::size_t>(group.size()))});
    std::vector<upload_request> requests;
    for (int rank = 0; valid && rank < group.size(); ++rank)
        add_rows(group.handle(rank), matrix, rows.owned(rank),
                 result->parts[static_cast<std::size_t>(rank)], requests);
    upload_together(requests);
    for (int rank = 0; valid && rank < group.size(); ++rank) {
        const row_range mine = rows.owned(rank);
        valid = check_rows(group.handle(rank), mine.size(), matrix.row_offsets[as_size(mine.begin)],
                           matrix.columns, result->parts[static_cast<std::size_t>(rank)]);
    }
    if (valid) return result;
    (void)validate(matrix); // names what is wrong
    throw input_error("make_operator: the devices found the pattern invalid, but the host finds it "
                      "valid: the arrays must not change while an operator is made");
}

std::shared_ptr<resident_matrix>
take_pattern(const device_group& group, std::span<const given_rows> given, std::int64_t columns) {
    if (columns > index_size_limit()) return nullptr;
    auto result = std::make_shared<resident_matrix>(
        resident_matrix{group, {}, columns, std::vector<resident_rows>(given.size())});
    for (std::size_t rank = 0; rank < given.size(); ++rank) {
        const auto& device = group.handle(static_cast<int>(rank));
        const given_rows& from = given[rank];
        resident_rows& to = result->parts[rank];
        result->rows.begin.push_back(result->rows.begin.back() + from.rows);
        to.offsets = buffer<std::int64_t>(device, as_size(from.rows) + 1, item);
        to.columns = from.columns;
        if (from.rows == 0) {
            to.offsets.zero();
            continue;
        }
        if (from.wide_offsets != nullptr)
            cuda::count_from_zero(*device, from.wide_offsets, from.rows + 1, to.offsets.data());
        else
            cuda::count_from_zero(*device, from.narrow_offsets, from.rows + 1, to.offsets.data());
        const auto [lengths, descends] =
            cuda::measure_lengths(device, to.offsets.data(), from.rows);
        if (descends || cuda::has_bad_column(device, to.columns, lengths.nonzeros, columns))
            return nullptr;
        to.lengths = lengths;
    }
    return result;
}

std::shared_ptr<resident_matrix> take_entries(const device_group& group,
                                              std::span<const given_entries> given,
                                              std::int64_t columns,
                                              std::vector<device_assembly>& assemblies) {
    if (columns > index_size_limit()) return nullptr;
    auto result = std::make_shared<resident_matrix>(
        resident_matrix{group, {}, columns, std::vector<resident_rows>(given.size())});
    for (std::size_t rank = 0; rank < given.size(); ++rank) {
        const auto& device = group.handle(static_cast<int>(rank));
        const given_entries& from = given[rank];
        const std::int64_t first = result->rows.begin.back();
        result->rows.begin.push_back(first + from.rows);
        if (from.entries > index_limit) return nullptr;
        auto made = cuda::assemble_there(device, from.row_indices, from.column_indices,
                                         from.entries, {first, first + from.rows}, columns);
        if (!made) return nullptr;
        resident_rows& to = result->parts[rank];
        to.offsets = std::move(made->offsets);
        to.uploaded = std::move(made->columns);
        to.columns = to.uploaded.data();
        to.lengths = cuda::measure_lengths(device, to.offsets.data(), from.rows).lengths;
        assemblies.push_back(std::move(*made));
    }
    return result;
}

double scattered_fraction(const resident_matrix& matrix, int rank, std::int64_t value_bytes) {
    const resident_rows& mine = matrix.parts[as_size(rank)];
    const auto first = sampled_rows({0, mine.lengths.rows});
    const auto columns = cuda::first_columns(
        matrix.group.handle(rank),
        {mine.offsets.data(), mine.columns, mine.lengths.rows, mine.lengths.nonzeros}, first,
        most_sampled_entries);
    std::vector<sampled_pair> sample;
    for (std::size_t k = 0; k < first.size(); ++k) sample.push_back({columns[k][0], columns[k][1]});
    return scattered_fraction(sample, value_bytes);
}

halo_plan make_halo_plan(resident_matrix& matrix, row_partition of_rows, row_partition of_columns) {
    halo_plan plan{std::move(of_rows), std::move(of_columns), {}};
    plan.local.resize(matrix.parts.size());
    for (int rank = 0; rank < matrix.group.size(); ++rank) {
        local_halo& mine = plan.local[static_cast<std::size_t>(rank)];
        mine.interior_rows = find_ghosts(matrix, rank, plan.columns.owned(rank), true);
        mine.ghosts = cuda::list_members(matrix.group.handle(rank),
                                         matrix.parts[static_cast<std::size_t>(rank)].ghosts);
        static_cast<void>(plan.local_size(rank)); // throws if it is too large
    }
    match_ghosts(plan);
    return plan;
}

allgather_plan make_allgather_plan(resident_matrix& matrix, row_partition of_rows,
                                   row_partition of_columns) {
    allgather_plan plan{std::move(of_rows), std::move(of_columns), {}};
    for (int rank = 0; rank < matrix.group.size(); ++rank) {
        static_cast<void>(plan.local_size(rank)); // throws if it is too large
        plan.local.push_back({find_ghosts(matrix, rank, plan.columns.owned(rank), false), {}});
    }
    return plan;
}

resident_block local_block(const resident_matrix& matrix, const halo_plan& plan, int rank) {
    return numbered(matrix, rank, plan.columns.owned(rank), true);
}

resident_block local_block(const resident_matrix& matrix, const allgather_plan& plan, int rank) {
    return numbered(matrix, rank, plan.columns.owned(rank), false);
}

#else

namespace {

/// Ends calls that no group of a build without CUDA can make.
[[noreturn]] void refuse() {
    throw device_error("krylith was built without CUDA");
}

} // namespace

bool makes_operators_there(const device_group& /*group*/) noexcept {
    return false;
}
template <class T>
std::shared_ptr<resident_matrix> upload_pattern(const device_group& /*group*/,
                                                const csr_view<T>& /*matrix*/,
                                                const row_partition& /*rows*/) {
    refuse();
}
std::shared_ptr<resident_matrix> take_pattern(const device_group& /*group*/,
                                              std::span<const given_rows> /*given*/,
                                              std::int64_t /*columns*/) {
    refuse();
}
std::shared_ptr<resident_matrix> take_entries(const device_group& /*group*/,
                                              std::span<const given_entries> /*given*/,
                                              std::int64_t /*columns*/,
                                              std::vector<device_assembly>& /*assemblies*/) {
    refuse();
}
double scattered_fraction(const resident_matrix& /*matrix*/, int /*rank*/,
                          std::int64_t /*value_bytes*/) {
    refuse();
}
halo_plan make_halo_plan(resident_matrix& /*matrix*/, row_partition /*of_rows*/,
                         row_partition /*of_columns*/) {
    refuse();
}
allgather_plan make_allgather_plan(resident_matrix& /*matrix*/, row_partition /*of_rows*/,
                                   row_partition /*of_columns*/) {
    refuse();
}
resident_block local_block(const resident_matrix& /*matrix*/, const halo_plan& /*plan*/,
                           int /*rank*/) {
    refuse();
}
resident_block local_block(const resident_matrix& /*matrix*/, const allgather_plan& /*plan*/,
                           int /*rank*/) {
    refuse();
}

#endif

template std::shared_ptr<resident_matrix>
upload_pattern(const device_group&, const csr_view<double>&, const row_partition&);
template std::shared_ptr<resident_matrix>
upload_pattern(const device_group&, const csr_view<float>&, const row_partition&);

} // namespace krylith
