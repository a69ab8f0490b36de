#include <krylith/sparse/spgemm/row_shares.hpp>

#include <atomic>

#include <krylith/matrix/types/index_width.hpp>

namespace krylith::host {

namespace {

constexpr std::int64_t usual_worth = 16384;
std::atomic<std::int64_t> worth{usual_worth};

} // namespace

std::vector<std::int64_t> equal_products(std::span<const std::int64_t> before, int parts) {
    const auto rows = static_cast<std::int64_t>(before.size()) - 1;
    const std::int64_t all = before[as_size(rows)] + rows;
    std::vector<std::int64_t> first{0};
    for (int part = 1; part < parts; ++part) {
        const std::int64_t wanted = all / parts * part + all % parts * part / parts;
        std::int64_t row = first.back();
        for (std::int64_t end = rows; row < end;) {
            const std::int64_t middle = (row + end) / 2;
            if (before[as_size(middle)] + middle < wanted)
                row = middle + 1;
            else
                end = middle;
        }
        first.push_back(row);
    }
    first.push_back(rows);
    return first;
}

std::int64_t products_worth_a_thread() noexcept {
    return worth.load(std::memory_order_relaxed);
}

mocked_products_worth::mocked_products_worth(std::int64_t products) noexcept {
    worth = products;
}

mocked_products_worth::~mocked_products_worth() {
    worth = usual_worth;
}

} // namespace krylith::host
