#include <krylith/precond/amg/unsymmetric_transfers.hpp>

#include <cmath>
#include <vector>

#include <krylith/precond/amg/unit_diagonal.hpp>

namespace krylith::detail {

template <class W>
bool differs_from_transpose(const distributed_csr<W>& b, double bound) {
    constexpr double tolerance = 1e-5;
    const device_group& group = b.group();
    std::vector<buffer<std::uint64_t>> sums;
    for (int rank = 0; rank < group.size(); ++rank) {
        const local_columns& columns = b.columns_of(rank);
        sums.emplace_back(group.handle(rank), 1, "preconditioner");
        sums.back().zero();
        mirror_difference(group[rank], b.block(rank).view(), columns.first_owned(),
                          columns.numbers(), bound, sums.back().data());
    }
    std::uint64_t all = 0;
    for (const auto& sum : sums) all += sum.download().front();
    const double sum = std::ldexp(static_cast<double>(static_cast<std::int64_t>(all)), -30 - 13);
    return std::fabs(sum) > tolerance * std::sqrt(static_cast<double>(b.nonzeros()));
}

template bool differs_from_transpose(const distributed_csr<double>&, double);
template bool differs_from_transpose(const distributed_csr<float>&, double);

} // namespace krylith::detail
