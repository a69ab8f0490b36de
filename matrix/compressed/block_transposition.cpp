#include <krylith/matrix/compressed/block_transposition.hpp>

#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

/// As many columns as have about this many entries, which with their places stay in a core's cache.
constexpr std::int64_t block_entries = 16384;
/// The first pass writes to so many places at once.
constexpr std::int64_t most_blocks = 1024;

int bits_of_blocks(const compressed_pattern& a) {
    const auto columns = static_cast<std::int64_t>(
        static_cast<double>(block_entries) * static_cast<double>(a.across) /
        static_cast<double>(std::max<std::int64_t>(1, a.nonzeros())));
    const std::int64_t least = (a.across - 1) / most_blocks + 1;
    const auto wanted = std::clamp<std::int64_t>(columns, least, std::max(least, a.across));
    return std::bit_width(static_cast<std::uint64_t>(wanted - 1));
}

} // namespace

column_blocks::column_blocks(const compressed_pattern& a, int parts)
    : parts_(divide_entries(a, parts)) {
    if (a.across > 0) {
        bits_ = bits_of_blocks(a);
        blocks_ = static_cast<int>(((a.across - 1) >> bits_) + 1);
    }
    places_.resize(as_size(std::int64_t{parts} * blocks_));
#pragma omp parallel for schedule(static, 1) num_threads(parts)
    for (int part = 0; part < parts; ++part) {
        std::vector<std::int64_t> counts(as_size(blocks_)); // apart from those of other threads
        const std::int64_t end = begin_of(part + 1).entry;
        for (std::int64_t k = begin_of(part).entry; k < end; ++k)
            ++counts.data()[a.indices.data()[k] >> bits_];
        std::copy(counts.begin(), counts.end(), places_.begin() + std::int64_t{part} * blocks_);
    }
    begins_.resize(as_size(blocks_) + 1);
    std::int64_t place = 0;
    for (int block = 0; block < blocks_; ++block) {
        begins_[as_size(block)] = place;
        for (int part = 0; part < parts; ++part) {
            std::int64_t& counter = places_[as_size(std::int64_t{part} * blocks_ + block)];
            const std::int64_t count = counter;
            counter = place;
            place += count;
        }
    }
    begins_.back() = place;
}

std::int64_t column_blocks::largest() const noexcept {
    std::int64_t most = 0;
    for (int block = 0; block < blocks_; ++block)
        most = std::max(most, begin(block + 1) - begin(block));
    return most;
}

} // namespace krylith
