// Plans and local columns that CUDA devices make are those of the host; faults of a matrix are
// found there and named as on the host.
#include <limits>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/distributed/source/resident_matrix.hpp>
#include <krylith/spmv/matrix_operator.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

namespace {

/// Groups of 1, 2, 3, 4 and 7 devices, of which there may be fewer.
std::vector<device_group> groups() {
    std::vector<device_group> result;
    for (const int size : {1, 2, 3, 4, 7}) {
        std::vector<int> ordinals;
        for (int k = 0; k < size; ++k) ordinals.push_back(k % cuda_device_count());
        result.push_back(device_group::cuda(ordinals));
    }
    return result;
}

/// A plan of the devices with what stays there, but for a single device, which has nothing to mark.
halo_plan with_rows(halo_plan plan, const resident_matrix& matrix) {
    for (std::size_t rank = 0; rank < plan.boundary.size(); ++rank) {
        plan.boundary[rank].touches_ghost = matrix.parts[rank].touches_ghost.download();
        if (matrix.comm.ranks() == 1)
            plan.boundary[rank].touches_ghost.resize(static_cast<std::size_t>(matrix.rows.rows()));
    }
    return plan;
}

void check_localized_columns(const csr_matrix<double>& a, const resident_matrix& there,
                             const halo_plan& plan) {
    for (int rank = 0; rank < plan.rows.ranks(); ++rank) {
        CAPTURE(rank);
        const row_range rows = plan.rows.owned(rank);
        const auto count =
            static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(rows.end)] -
                                     a.row_offsets[static_cast<std::size_t>(rows.begin)]);
        std::vector<std::int32_t> expected(count);
        localize_columns(plan, rank, a.row_offsets, a.column_indices, expected);
        const resident_block block = local_block(there, plan, rank);
        std::vector<std::int32_t> found(count);
        if (count != 0) there.comm[rank].download(found.data(), block.pattern.columns, count * 4);
        CHECK(found == expected);
    }
}

void check_plans(const device_group& group, const csr_matrix<double>& a, const row_partition& rows,
                 const row_partition& columns) {
    const auto there = upload_pattern<double>(group, a, rows);
    CHECK(there->longest() == validate(a));
    const halo_plan expected = make_halo_plan(a.row_offsets, a.column_indices, rows, columns);
    const halo_plan found = make_halo_plan(*there, rows, columns);
    CHECK(with_rows(found, *there) == expected);
    check_localized_columns(a, *there, expected);
    const halo_plan all = make_allgather_plan(a.row_offsets, a.column_indices, rows, columns);
    CHECK(with_rows(make_allgather_plan(*there, rows, columns), *there) == all);
    check_localized_columns(a, *there, all);
}

/// 700 rows of up to 40 columns of 300, and one row of all.
csr_matrix<double> wide_rows() {
    csr_matrix<double> a{700, 300, {0}, {}, {}};
    testing::random_numbers random(5);
    for (int row = 0; row < 700; ++row) {
        const int count = row == 333 ? 5000 : random.below(41);
        for (int k = 0; k < count; ++k) a.column_indices.push_back(random.below(300));
        a.row_offsets.push_back(static_cast<std::int64_t>(a.column_indices.size()));
    }
    a.values.assign(a.column_indices.size(), 1.0);
    return a;
}

template <class Call>
std::string message(Call call) {
    try {
        call();
    } catch (const input_error& e) {
        return e.what();
    }
    return "none";
}

} // namespace

TEST_CASE("patterns on devices: plans and local columns are those of the host [cuda]") {
    testing::on_groups(groups(), [](const device_group& group) {
        for (const auto& entry : testing::battery()) {
            CAPTURE(entry.name);
            const csr_matrix<double>& a = entry.matrix;
            check_plans(group, a, equal_nonzeros(a.row_offsets, group.size()),
                        equal_rows(a.columns, group.size()));
            if (a.rows == a.columns) {
                const auto rows = equal_rows(a.rows, group.size());
                check_plans(group, a, rows, rows);
            }
        }
        const csr_matrix<double> a = wide_rows();
        check_plans(group, a, equal_nonzeros(a.row_offsets, group.size()),
                    equal_rows(a.columns, group.size(), 64));
    });
}

TEST_CASE("patterns on devices: faults are named as on the host [cuda]") {
    const csr_matrix<double> good = testing::random_matrix(2000, 5, 2, 3);
    testing::on_groups(groups(), [&](const device_group& group) {
        const auto check = [&](auto spoil) {
            csr_matrix<double> bad = good;
            spoil(bad);
            const std::string expected = message([&] { (void)validate(bad); });
            CAPTURE(expected);
            CHECK(expected != "none");
            CHECK(message([&] { (void)make_operator(group, bad); }) == expected);
        };
        for (const std::size_t at : {1u, 2u, 1000u, 1999u})
            check([&](auto& a) { a.row_offsets[at] = a.row_offsets[at + 1] + 1; });
        for (const std::size_t at : {1u, 1000u, 1999u}) {
            check([&](auto& a) { a.row_offsets[at] = -5; });
            check([&](auto& a) { a.row_offsets[at] = std::int64_t{1} << 60; });
        }
        for (const std::size_t at : {std::size_t{0}, good.column_indices.size() - 1})
            for (const std::int32_t column : {-1, 2000, std::numeric_limits<std::int32_t>::max()})
                check([&](auto& a) { a.column_indices[at] = column; });
        check([](auto& a) { a.row_offsets.front() = 1; });
        check([](auto& a) { a.row_offsets.back() += 1; });
        check([](auto& a) { a.row_offsets.back() = -1; });
        check([](auto& a) { a.row_offsets.pop_back(); });
        check([](auto& a) { a.row_offsets.clear(); });
        check([](auto& a) { a.values.pop_back(); });
        check([](auto& a) { a.rows = -1; });
        check([](auto& a) { a.columns = -1; });
        CHECK(message([&] { (void)make_operator(group, good); }) == "none");
    });
}

} // namespace krylith
