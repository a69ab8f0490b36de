// Rows of C = A B on one thread (Gustavson, Two fast algorithms for sparse matrices: multiplication
// and permuted transposition, ACM TOMS 4, 1978).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/device_csr.hpp>
#include <krylith/sparse/spgemm/spgemm_pattern.hpp>

namespace krylith::host {

/// The columns of a row as they come: a bit for each, and a list of the words of 64 bits that have
/// one. So a row is sorted by sorting its words, of which a mesh's have a third or a fifth as many
/// as columns. All bits are 0 between rows.
class column_set {
public:
    explicit column_set(std::int64_t columns) : bits_(as_size((columns + 63) / 64)) {}

    void insert(const std::int32_t* begin, const std::int32_t* end) {
        for (const std::int32_t* at = begin; at != end; ++at) {
            const auto column = static_cast<std::uint32_t>(*at);
            std::uint64_t& word = bits_[column / 64];
            if (word == 0) words_.push_back(static_cast<std::int32_t>(column / 64));
            word |= std::uint64_t{1} << (column % 64);
        }
    }

    /// Appends the columns, ascending, and empties the set.
    void take(std::vector<std::int32_t>& to) {
        if (words_.size() > bits_.size() / 16) // looking at all words is faster than a sort
            for (std::size_t word = 0; word < bits_.size(); ++word)
                take_word(static_cast<std::int32_t>(word), to);
        else {
            std::sort(words_.begin(), words_.end());
            for (const std::int32_t word : words_) take_word(word, to);
        }
        words_.clear();
    }

private:
    void take_word(std::int32_t word, std::vector<std::int32_t>& to) {
        std::uint64_t& there = bits_[static_cast<std::size_t>(word)];
        for (std::uint64_t rest = there; rest != 0; rest &= rest - 1)
            to.push_back(word * 64 + std::countr_zero(rest));
        there = 0;
    }

    std::vector<std::uint64_t> bits_;
    std::vector<std::int32_t> words_;
};

/// Appends the columns of rows [begin, end) of C, and writes how many each row has.
inline void count_rows(const csr_pattern& a, const csr_pattern& b, std::int64_t begin,
                       std::int64_t end, std::vector<std::int32_t>& columns, std::int64_t* counts) {
    column_set row(b.columns);
    for (std::int64_t i = begin; i < end; ++i) {
        for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
            const std::int32_t from = a.indices[k];
            row.insert(b.indices + b.offsets[from], b.indices + b.offsets[from + 1]);
        }
        const std::size_t before = columns.size();
        row.take(columns);
        counts[i] = static_cast<std::int64_t>(columns.size() - before);
    }
}

/// The numeric phase of rows [begin, end), with a sum for each column of C. Products and sums are
/// rounded apart, as on GPUs: this must be compiled without fused multiply-add.
template <class T>
void add_rows(const device_csr_view<T>& a, const device_csr_view<T>& b, std::int64_t begin,
              std::int64_t end, const device_csr_view<T>& pattern, T* values,
              std::vector<T>& sums) {
    sums.resize(as_size(b.columns));
    T* const sum = sums.data();
    for (std::int64_t i = begin; i < end; ++i) {
        for (std::int64_t q = pattern.offsets[i]; q < pattern.offsets[i + 1]; ++q)
            sum[pattern.indices[q]] = T{0};
        for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
            const std::int32_t from = a.indices[k];
            const T factor = a.values[k];
            for (std::int64_t j = b.offsets[from]; j < b.offsets[from + 1]; ++j) {
                const T product = factor * b.values[j];
                sum[b.indices[j]] += product;
            }
        }
        for (std::int64_t q = pattern.offsets[i]; q < pattern.offsets[i + 1]; ++q)
            values[q] = sum[pattern.indices[q]];
    }
}

} // namespace krylith::host
