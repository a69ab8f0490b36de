// Levels that are gathered on the first device.
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/distributed/products/whole_matrix.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg/gathered_level.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/vector/execution.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

namespace {

/// A partition that gives the first device nothing, where there are several.
row_partition first_without_rows(std::int64_t rows, int ranks) {
    row_partition p = equal_rows(rows, ranks);
    if (ranks > 1) p.begin[1] = 0;
    return p;
}

template <class T>
void check_matrix(const device_group& group, const csr_matrix<T>& a, const row_partition& rows) {
    distributed_csr<T> spread(group, a, rows, rows);
    distributed_csr<T> gathered = detail::gather(spread);
    CHECK(gathered.comm().ranks() == 1);
    CHECK(gathered.comm().handle(0) == group.handle(0));
    CHECK(gathered.rows_ascend());
    CHECK(gathered.download() == a);
    csr_matrix<T> other = a;
    for (T& value : other.values) value *= 3;
    bring_values(0, distributed_csr<T>(group, other, rows, rows), gathered.block(0).values());
    CHECK(gathered.download() == other);
}

template <class T>
void check_copies(const device_group& group, std::int64_t n, const row_partition& rows,
                  coherence kind) {
    const auto spread = std::make_shared<const layout>(layout{group, rows, kind});
    const auto first = detail::on_first_device(group, n, kind);
    const auto copy = detail::make_copying_operator<T>(spread, first);
    vector<T> from = copy->make_domain_vector("vectors");
    vector<T> there = copy->make_range_vector();
    std::vector<T> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), T(1));
    from.upload(std::span<const T>(numbers));
    execution run(group, {});
    put_ghosts(run, from);
    copy->apply(run, T(1), from, T(0), there);
    run.flush();
    CHECK(testing::values_of(there) == numbers);
}

} // namespace

KRYLITH_GROUP_TEST("gathered level: the rows of all devices, and new values") {
    for (const char* const name : {"poisson2d:9", "poisson3d_27point:4", "poisson1d:1"}) {
        CAPTURE(name);
        const auto a = make_gallery<double>(name);
        for (const auto& rows :
             {equal_rows(a.rows, group.size()), first_without_rows(a.rows, group.size())}) {
            check_matrix<double>(group, a, rows);
            check_matrix<float>(group, testing::converted<float>(a), rows);
        }
    }
}

KRYLITH_GROUP_TEST("gathered level: vectors go to the first device") {
    for (const std::int64_t n : {1, 5, 1000})
        for (const auto& rows : {equal_rows(n, group.size()), first_without_rows(n, group.size())})
            for (const coherence kind : {coherence::owned, coherence::replicated}) {
                CAPTURE(n);
                check_copies<double>(group, n, rows, kind);
                check_copies<float>(group, n, rows, kind);
            }
}

KRYLITH_GROUP_TEST("gathered level: numbers of rows go back to their devices") {
    const std::int64_t n = 100;
    std::vector<double> numbers(100);
    std::iota(numbers.begin(), numbers.end(), 0.5);
    const buffer<double> there(group.handle(0), std::span<const double>(numbers), "vectors");
    for (const auto& rows : {equal_rows(n, group.size()), first_without_rows(n, group.size())}) {
        const auto back = detail::scatter_numbers({group, rows}, there);
        std::vector<double> all;
        for (const auto& of_rank : back) {
            const std::vector<double> part = of_rank.download();
            all.insert(all.end(), part.begin(), part.end());
        }
        CHECK(all == numbers);
    }
}

KRYLITH_GROUP_TEST("gathered level: numbers of rows come to the first device") {
    const std::int64_t n = 100;
    const std::int64_t each = 3;
    std::vector<float> numbers(static_cast<std::size_t>(n * each));
    std::iota(numbers.begin(), numbers.end(), 0.5f);
    for (const auto& rows : {equal_rows(n, group.size()), first_without_rows(n, group.size())}) {
        std::vector<buffer<float>> parts;
        std::vector<const float*> from;
        for (int rank = 0; rank < group.size(); ++rank) {
            const row_range own = rows.owned(rank);
            parts.emplace_back(group.handle(rank),
                               std::span<const float>(numbers.data() + own.begin * each,
                                                      static_cast<std::size_t>(own.size() * each)),
                               "vectors");
            from.push_back(parts.back().data());
        }
        const buffer<float> there(group.handle(0), numbers.size(), "vectors");
        there.zero();
        detail::gather_numbers<float>({group, rows}, from, each, there.data());
        CHECK(there.download() == numbers);
    }
}

KRYLITH_GROUP_TEST("gathered level: a device alone is a group in the order of its own work") {
    for (int rank = 0; rank < group.size(); ++rank) {
        const device_group alone = group.alone(rank);
        CHECK(alone.size() == 1);
        CHECK(alone.kind() == group.kind());
        CHECK(alone.concurrent());
        CHECK(alone.path(0, 0) == peer_path::direct);
        CHECK(alone.handle(0) == group.handle(rank));
        CHECK(alone == group.alone(rank)); // groups are compared by their devices
        CHECK((alone == group) == (group.size() == 1));
    }
}

KRYLITH_GROUP_TEST("gathered level: an operator of a matrix on the first device alone") {
    const auto a = make_gallery<double>("poisson2d:7");
    const row_partition all = equal_rows(a.rows, 1);
    distributed_csr<double> there(group.alone(0), a, all, all);
    const auto first = detail::on_first_device(group, a.rows, coherence::owned);
    const auto made =
        make_operator(operator_layouts{first, first}, there, {.kind = operators::halo});
    auto x = made->make_domain_vector();
    auto y = made->make_range_vector();
    std::vector<double> ones(static_cast<std::size_t>(a.rows), 1.0);
    x.upload(std::span<const double>(ones));
    const auto product = [&] {
        execution run(group, {});
        made->apply(run, 1.0, x, 0.0, y);
        run.flush();
        return testing::values_of(y);
    };
    std::vector<double> sums;
    for (std::size_t i = 0; i < ones.size(); ++i)
        sums.push_back(std::accumulate(a.values.begin() + a.row_offsets[i],
                                       a.values.begin() + a.row_offsets[i + 1], 0.0));
    CHECK(product() == sums);
    there.block(0).update(std::vector<double>(a.values.size(), 2.0));
    std::vector<const double*> values(static_cast<std::size_t>(group.size()), nullptr);
    values.front() = there.block(0).view().values;
    made->update_on_devices(std::span<const double* const>(values));
    for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] = 2.0 * static_cast<double>(a.row_offsets[i + 1] - a.row_offsets[i]);
    CHECK(product() == sums);
    if (group.size() == 1) return;
    // The layouts of another group don't do, nor rows that other devices would have.
    const auto spread = std::make_shared<const layout>(
        layout{group, equal_rows(a.rows, group.size()), coherence::owned});
    CHECK_THROWS_AS(
        (void)make_operator(operator_layouts{spread, spread}, there, {.kind = operators::halo}),
        usage_error);
    const distributed_csr<double> elsewhere(group.alone(group.size() - 1), a, all, all);
    CHECK_THROWS_AS((void)make_operator(operator_layouts{first, first}, elsewhere), usage_error);
}

} // namespace krylith
