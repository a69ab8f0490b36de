#include <krylith/partition/halo/column_set.hpp>

#include <cstddef>

namespace krylith {

column_set::column_set(std::int64_t begin, std::int64_t end)
    : begin_(begin), end_(end), words_(static_cast<std::size_t>((end - begin + 63) / 64)) {}

void column_set::seal() noexcept {
    size_ = 0;
    for (word& at : words_) {
        at.below = size_;
        size_ += std::popcount(at.bits);
    }
}

std::vector<std::int64_t> column_set::members() const {
    std::vector<std::int64_t> result(static_cast<std::size_t>(size_));
    const auto words = static_cast<std::int64_t>(words_.size());
#pragma omp parallel for schedule(static) if (words > 4096)
    for (std::int64_t k = 0; k < words; ++k) {
        const word& at = words_.data()[k];
        std::int64_t* next = result.data() + at.below;
        for (std::uint64_t bits = at.bits; bits != 0; bits &= bits - 1) {
            *next++ = begin_ + k * 64 + std::countr_zero(bits);
        }
    }
    return result;
}

} // namespace krylith
