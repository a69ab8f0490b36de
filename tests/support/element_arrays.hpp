#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_assembly.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/partition/row_partition.hpp>

#include <krylith/tests/support/random.hpp>

namespace krylith::testing {

/// Entries as of finite elements: every nonzero is a sum of two or three, entries to be left out
/// are among them, and each device's are in random order.
struct element_arrays {
    std::vector<buffer<std::int32_t>> rows;
    std::vector<buffer<std::int32_t>> columns;
    std::vector<buffer<double>> values;
    std::vector<coo_part<double>> parts;
    std::vector<double> all; ///< values of all parts

    element_arrays(const device_group& group, const csr_matrix<double>& matrix) {
        const row_partition assigned = equal_rows(matrix.rows, group.size());
        for (int rank = 0; rank < group.size(); ++rank) {
            std::vector<std::tuple<double, std::int32_t, std::int32_t, double>> entries;
            const row_range own = assigned.owned(rank);
            std::uint64_t salt = 70;
            const auto add = [&](std::int64_t row, std::int32_t column, double value) {
                entries.emplace_back(random_values<double>(1, ++salt).front(),
                                     static_cast<std::int32_t>(row), column, value);
            };
            for (std::int64_t row = own.begin; row < own.end; ++row)
                for (auto k = matrix.row_offsets[static_cast<std::size_t>(row)];
                     k < matrix.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
                    const auto i = static_cast<std::size_t>(k);
                    add(row, matrix.column_indices[i], matrix.values[i] * 0.5);
                    add(row, matrix.column_indices[i], matrix.values[i] * 0.25);
                    add(row, matrix.column_indices[i], matrix.values[i] * 0.25);
                    if (k % 5 == 0) add(k % 2 == 0 ? -1 : row, -1, 1e6);
                }
            std::sort(entries.begin(), entries.end());
            std::vector<std::int32_t> r;
            std::vector<std::int32_t> c;
            std::vector<double> v;
            for (const auto& [key, row, column, value] : entries) {
                r.push_back(row);
                c.push_back(column);
                v.push_back(value);
            }
            all.insert(all.end(), v.begin(), v.end());
            const auto& device = group.handle(rank);
            rows.emplace_back(device, std::span<const std::int32_t>(r), "test");
            columns.emplace_back(device, std::span<const std::int32_t>(c), "test");
            values.emplace_back(device, std::span<const double>(v), "test");
            parts.push_back({own.size(), static_cast<std::int64_t>(v.size()), rows.back().data(),
                             columns.back().data(), values.back().data()});
        }
    }
};

} // namespace krylith::testing
