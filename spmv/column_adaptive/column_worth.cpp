#include <krylith/spmv/column_adaptive/column_worth.hpp>

#include <atomic>

namespace krylith {

namespace {

std::atomic<bool> mocked = false;

} // namespace

std::int64_t most_column_nonzeros(backend kind, const row_product& all) noexcept {
    const std::int64_t entries = all.matrix_bytes / all.entry_bytes;
    if (mocked.load(std::memory_order_relaxed)) return entries / 4;
    const bool cuda = kind == backend::cuda;
    const std::int64_t listing = cuda ? 64'000'000 : 0;
    const std::int64_t of_nonzero = cuda ? 40 : 16;
    constexpr std::int64_t of_row = 2;
    const std::int64_t left = entries - listing - of_row * all.rows;
    return left > 0 ? left / of_nonzero : -1;
}

mocked_column_worth::mocked_column_worth() noexcept {
    mocked = true;
}

mocked_column_worth::~mocked_column_worth() {
    mocked = false;
}

} // namespace krylith
