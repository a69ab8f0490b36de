// The columns of one row of a product on the host, sorted as they are taken out.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <krylith/matrix/types/index_width.hpp>

namespace krylith::host {

/// A bit for each column, and a list of the words of 64 bits that have one. So a row is sorted by
/// sorting its words, of which a mesh's have a third or a fifth as many as columns. All bits are 0
/// between rows. Rows are short and have no pattern that a processor could predict, so that the
/// usual cases have no branches.
class column_set {
public:
    /// take() writes up to so many columns more than there are.
    static constexpr std::size_t slack = 4;

    explicit column_set(std::int64_t columns) : bits_(as_size((columns + 63) / 64)) {}

    /// Makes room for a row of so many products.
    void begin(std::size_t products) {
        const std::size_t most = std::min(products, bits_.size()) + 1;
        if (words_.size() < most) {
            words_.resize(2 * most);
            sorted_.resize(2 * most);
        }
    }

    void insert(const std::int32_t* begin, const std::int32_t* end) {
        if (count_ > most_ranked) return insert_among_many(begin, end);
        std::int32_t* const words = words_.data();
        std::uint64_t* const bits = bits_.data();
        std::size_t count = count_;
        for (const std::int32_t* at = begin; at != end; ++at) {
            const auto column = static_cast<std::uint32_t>(*at);
            const std::uint64_t word = bits[column / 64];
            words[count] = static_cast<std::int32_t>(column / 64);
            count += word == 0 ? 1 : 0;
            bits[column / 64] = word | std::uint64_t{1} << (column % 64);
        }
        count_ = count;
    }

    /// Writes the columns, ascending, empties the set, and returns where they end.
    std::int32_t* take(std::int32_t* to) {
        if (count_ > bits_.size() / 16) { // looking at all words is faster than a sort
            for (std::size_t word = 0; word < bits_.size(); ++word)
                to = take_word(static_cast<std::int32_t>(word), to);
        } else if (count_ <= most_ranked) {
            rank();
            for (std::size_t i = 0; i < count_; ++i) to = take_word(sorted_[i], to);
        } else {
            std::sort(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(count_));
            for (std::size_t i = 0; i < count_; ++i) to = take_word(words_[i], to);
        }
        count_ = 0;
        return to;
    }

private:
    static constexpr std::size_t most_ranked = 48;

    /// The same for a row that has many columns already: most of what comes is among them, which a
    /// processor can predict.
    void insert_among_many(const std::int32_t* begin, const std::int32_t* end) {
        for (const std::int32_t* at = begin; at != end; ++at) {
            const auto column = static_cast<std::uint32_t>(*at);
            const std::uint64_t word = bits_[column / 64];
            const std::uint64_t bit = std::uint64_t{1} << (column % 64);
            if ((word & bit) != 0) continue;
            if (word == 0) words_[count_++] = static_cast<std::int32_t>(column / 64);
            bits_[column / 64] = word | bit;
        }
    }

    /// Sorts few words: the place of each is the number of smaller ones.
    void rank() {
        const std::int32_t* const words = words_.data();
        for (std::size_t i = 0; i < count_; ++i) {
            const std::int32_t own = words[i];
            std::uint32_t place = 0;
            for (std::size_t j = 0; j < count_; ++j) place += words[j] < own ? 1u : 0u;
            sorted_[place] = own;
        }
    }

    /// Four columns are written whether or not there are so many: most words have fewer.
    std::int32_t* take_word(std::int32_t word, std::int32_t* to) {
        std::uint64_t rest = bits_[static_cast<std::size_t>(word)];
        bits_[static_cast<std::size_t>(word)] = 0;
        std::int32_t* const end = to + std::popcount(rest);
        for (std::size_t i = 0; i < slack; ++i, rest &= rest - 1) to[i] = column_of(word, rest);
        for (to += slack; to < end; ++to, rest &= rest - 1) *to = column_of(word, rest);
        return end;
    }

    [[nodiscard]] static std::int32_t column_of(std::int32_t word, std::uint64_t bits) {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(word) * 64 +
                                         static_cast<std::uint32_t>(std::countr_zero(bits)));
    }

    std::vector<std::uint64_t> bits_;
    std::vector<std::int32_t> words_;
    std::vector<std::int32_t> sorted_;
    std::size_t count_ = 0; ///< words that have a bit
};

} // namespace krylith::host
