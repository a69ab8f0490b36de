#include <krylith/solvers/automatic/row_sample.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <krylith/matrix/gallery/counter_hash.hpp>

namespace krylith {

namespace {

constexpr std::uint64_t sample_seed = 0x726f7773;

using entry = std::pair<std::int64_t, double>; ///< a column and its value

/// What a sample sees of rows in host memory.
template <class T>
struct rows_in_memory {
    const std::int64_t* offsets;
    const std::int32_t* columns;
    const T* values;

    [[nodiscard]] std::int64_t length(std::int64_t row) const {
        return offsets[row + 1] - offsets[row];
    }
    void take(std::int64_t row, std::vector<entry>& entries) const {
        for (std::int64_t k = offsets[row]; k < offsets[row + 1]; ++k)
            entries.emplace_back(columns[k], static_cast<double>(values[k]));
    }
    /// Of the first entries of a row, so that full rows cost no more than others; `column` is that
    /// of the diagonal.
    [[nodiscard]] double diagonal(std::int64_t row, std::int64_t column) const {
        const std::int64_t end = std::min(offsets[row + 1], offsets[row] + longest_sampled_row);
        double sum = 0;
        for (std::int64_t k = offsets[row]; k < end; ++k)
            if (columns[k] == column) sum += static_cast<double>(values[k]);
        return sum;
    }
};

class sampler {
public:
    /// `entries` are those of the row, none of one that is too long.
    template <class Diagonal>
    void look_at(std::int64_t row, std::int64_t length, std::vector<entry>& entries,
                 const Diagonal& diagonal_of) {
        ++found_.rows;
        const double diagonal = diagonal_of(row);
        double sum = length > longest_sampled_row ? infinite : 0;
        add_up(entries);
        for (const auto& [column, value] : entries) {
            if (!std::isfinite(sum)) break;
            if (column == row) continue;
            const double size = std::sqrt(std::fabs(diagonal * diagonal_of(column)));
            const double scaled = value == 0 ? 0 : std::fabs(value) / size;
            sum += scaled;
            if (!std::isfinite(scaled)) continue;
            found_.off_diagonal += scaled;
            if ((value > 0) == (diagonal > 0)) found_.positive += scaled;
        }
        if (diagonal == 0 || !(sum < infinite)) sum = infinite;
        found_.largest_sum = std::max(found_.largest_sum, sum);
        if (0.9 * sum <= 1) ++found_.dominant;
    }

    [[nodiscard]] const row_sample& found() const { return found_; }

private:
    static constexpr double infinite = std::numeric_limits<double>::infinity();

    /// Adds up those at one place.
    static void add_up(std::vector<entry>& entries) {
        std::ranges::stable_sort(entries, {}, &entry::first);
        std::size_t kept = 0;
        for (const entry& one : entries)
            if (kept != 0 && entries[kept - 1].first == one.first)
                entries[kept - 1].second += one.second;
            else
                entries[kept++] = one;
        entries.resize(kept);
    }

    row_sample found_;
};

/// The rows to look at, in this order.
std::vector<std::int64_t> sampled(std::int64_t rows, std::int64_t most) {
    std::vector<std::int64_t> result;
    for (std::int64_t k = 0; k < std::min(rows, most); ++k)
        result.push_back(rows <= most
                             ? k
                             : static_cast<std::int64_t>(
                                   counter_hash(sample_seed, static_cast<std::uint64_t>(k)) %
                                   static_cast<std::uint64_t>(rows)));
    return result;
}

/// An entry of a sampled row, or a row and its length or its diagonal.
struct sent_number {
    std::int64_t index;
    double value;
};

/// Sampled rows of a matrix on host devices, and the diagonals of their columns, from whoever has
/// them.
class gathered_rows {
public:
    template <class T>
    gathered_rows(const distributed_csr<T>& matrix, std::vector<std::int64_t> rows) {
        sort(rows);
        entries_ = gather(matrix, rows,
                          [&](int rank, const rows_in_memory<T>& there, std::int64_t,
                              std::int64_t i, std::vector<sent_number>& list) {
                              list.push_back({there.length(i), 0});
                              if (there.length(i) > longest_sampled_row) return;
                              std::vector<entry> of_row;
                              there.take(i, of_row);
                              for (const auto& [column, value] : of_row)
                                  list.push_back({matrix.columns_of(rank).global(column), value});
                          });
        std::vector<std::int64_t> columns = rows;
        std::size_t at = 0;
        for (const std::int64_t row : rows) {
            begins_[row] = at;
            for (std::int64_t k = sent_after(at++); k > 0; --k)
                columns.push_back(entries_[at++].index);
        }
        sort(columns);
        const auto diagonals =
            gather(matrix, columns,
                   [&](int rank, const rows_in_memory<T>& there, std::int64_t row, std::int64_t i,
                       std::vector<sent_number>& list) {
                       const std::int64_t column = matrix.columns_of(rank).local(row);
                       list.push_back({row, column < 0 ? 0 : there.diagonal(i, column)});
                   });
        for (const auto& [row, value] : diagonals) diagonals_[row] = value;
    }

    /// Sets the entries of a row, none of one that is too long, and returns its length.
    std::int64_t take(std::int64_t row, std::vector<entry>& entries) const {
        const std::size_t at = begins_.at(row);
        entries.clear();
        for (std::int64_t k = 1; k <= sent_after(at); ++k) {
            const sent_number& one = entries_[at + static_cast<std::size_t>(k)];
            entries.emplace_back(one.index, one.value);
        }
        return entries_[at].index;
    }
    [[nodiscard]] double diagonal(std::int64_t row) const { return diagonals_.at(row); }

private:
    static void sort(std::vector<std::int64_t>& rows) {
        std::ranges::sort(rows);
        rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    }
    /// How many entries follow the length of a row.
    [[nodiscard]] std::int64_t sent_after(std::size_t at) const {
        const std::int64_t length = entries_[at].index;
        return length > longest_sampled_row ? 0 : length;
    }
    /// What the owners of rows put, one after the other.
    template <class T, class Put>
    static std::vector<sent_number> gather(const distributed_csr<T>& matrix,
                                           const std::vector<std::int64_t>& rows, const Put& put) {
        auto lists = by_rank(matrix.comm(), [&](int rank) {
            const device_csr_view<T> a = matrix.block(rank).view();
            const rows_in_memory<T> there{a.offsets, a.indices, a.values};
            const row_range own = matrix.row_owners().owned(rank);
            std::vector<sent_number> list;
            for (const std::int64_t row : rows)
                if (own.contains(row)) put(rank, there, row, row - own.begin, list);
            return list;
        });
        matrix.comm().all_gather_lists(lists);
        std::vector<sent_number> all;
        for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
        return all;
    }

    std::vector<sent_number> entries_; ///< the length of a row, and then its entries
    std::unordered_map<std::int64_t, std::size_t> begins_; ///< of rows, in entries_
    std::unordered_map<std::int64_t, double> diagonals_;
};

} // namespace

template <class T>
row_sample sample_rows(const csr_view<T>& matrix, std::int64_t most) {
    const rows_in_memory<T> rows{matrix.row_offsets.data(), matrix.column_indices.data(),
                                 matrix.values.data()};
    sampler sample;
    std::vector<entry> entries;
    for (const std::int64_t row : sampled(matrix.rows, most)) {
        entries.clear();
        const std::int64_t length = rows.length(row);
        if (length <= longest_sampled_row) rows.take(row, entries);
        sample.look_at(row, length, entries, [&](std::int64_t i) { return rows.diagonal(i, i); });
    }
    return sample.found();
}

template <class T>
row_sample sample_rows(const distributed_csr<T>& matrix, std::int64_t most) {
    const communicator& comm = matrix.comm();
    if (comm.kind() != backend::host) return {};
    comm.synchronize();
    const std::vector<std::int64_t> order = sampled(matrix.rows(), most);
    const gathered_rows rows(matrix, order);
    sampler sample;
    std::vector<entry> entries;
    for (const std::int64_t row : order) {
        const std::int64_t length = rows.take(row, entries);
        sample.look_at(row, length, entries, [&](std::int64_t i) { return rows.diagonal(i); });
    }
    return sample.found();
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template row_sample sample_rows(const csr_view<T>&, std::int64_t);                             \
    template row_sample sample_rows(const distributed_csr<T>&, std::int64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
