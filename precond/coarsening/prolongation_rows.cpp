#include <krylith/device/loops/running_sums.hpp>
#include <krylith/precond/coarsening/prolongation_rows.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <krylith/config.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_team.hpp>
#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/sparse/spgemm/column_sums.hpp>

namespace krylith::aggregation {

namespace {

constexpr const char* offsets_item = "offsets of a matrix";
constexpr const char* columns_item = "columns of a matrix";
constexpr const char* values_item = "values of a matrix";

#if KRYLITH_HAVE_CUDA
template <class T>
prolongation_arrays<T> make_on_cuda(const std::shared_ptr<device>& device,
                                    const prolongation_rows<T>& p) {
    prolongation_arrays<T> made;
    const std::int64_t rows = p.a.rows;
    made.offsets = {device, as_size(rows + 1), offsets_item};
    {
        const buffer<std::int32_t> counts(device, as_size(rows), memory_item);
        cuda::count_prolongation(*device, p, counts.data());
        add_up_sizes(device, rows, counts.data(), made.offsets.data());
    }
    std::int64_t entries = 0;
    device->download(&entries, made.offsets.data() + rows, sizeof entries);
    made.columns = {device, as_size(entries), columns_item};
    made.values = {device, as_size(entries), values_item};
    cuda::fill_prolongation(*device, p, made.offsets.data(), made.columns.data(),
                            made.values.data());
    return made;
}
#endif

/// Rows of P on one thread.
template <class T>
class row_maker {
public:
    row_maker(const prolongation_rows<T>& p, std::int64_t columns) : p_(p), sums_(columns) {}

    /// The most entries that a row can have.
    [[nodiscard]] std::size_t most(std::int64_t row) const {
        return as_size(p_.a.offsets[row + 1] - p_.a.offsets[row] + 1);
    }

    /// Writes the entries of a row, and returns how many there are.
    std::size_t make(std::int64_t row, std::int32_t* columns, T* values) {
        const std::int32_t own = p_.a.own(row);
        const std::int32_t own_aggregate = p_.aggregate[own];
        if (own_aggregate < 0) return 0;
        if (!p_.smooth) {
            columns[0] = own_aggregate;
            values[0] = p_.tentative[own];
            return 1;
        }
        sums_.begin(most(row));
        for (std::int64_t k = p_.a.offsets[row]; k < p_.a.offsets[row + 1]; ++k) {
            const std::int32_t j = p_.a.indices[k];
            if (j != own && p_.a.couplings[k] == 0) continue;
            const std::int32_t g = p_.aggregate[j];
            if (g < 0) continue;
            const T value = j == own ? p_.filtered[row] : p_.values[k];
            sums_.add(g, value * p_.tentative[j]);
        }
        const std::size_t count = sums_.take(columns, values);
        const T factor = p_.omega / p_.filtered[row];
        for (std::size_t i = 0; i < count; ++i)
            values[i] = minus_product(columns[i] == own_aggregate ? p_.tentative[own] : T(0),
                                      factor, values[i]);
        return count;
    }

private:
    const prolongation_rows<T>& p_;
    krylith::host::column_sums<T> sums_;
};

/// Rows [begin, end) of P, made by one thread, and the memory of their entries.
template <class T>
struct part_entries {
    part_entries(const std::shared_ptr<device>& device, const prolongation_rows<T>& p,
                 std::int64_t begin, std::int64_t end)
        : begin(begin),
          end(end),
          columns(device, most(p), memory_item),
          values(device, most(p), memory_item) {}

    /// The most entries that the rows can have: those of A, and one for each aggregate.
    [[nodiscard]] std::size_t most(const prolongation_rows<T>& p) const {
        return as_size(p.a.offsets[end] - p.a.offsets[begin] + (end - begin));
    }

    std::int64_t begin;
    std::int64_t end;
    std::size_t count = 0;
    buffer<std::int32_t> columns;
    buffer<T> values;
};

/// Makes the rows of a part; writes the number of entries of each to counts[row].
template <class T>
void make_part(const prolongation_rows<T>& p, std::int64_t columns, part_entries<T>& part,
               std::int64_t* counts) {
    row_maker<T> row(p, columns);
    for (std::int64_t i = part.begin; i < part.end; ++i) {
        const std::size_t count =
            row.make(i, part.columns.data() + part.count, part.values.data() + part.count);
        part.count += count;
        counts[i] = static_cast<std::int64_t>(count);
    }
}

/// Finds the entries in one pass, before their number is known, and then puts them together.
template <class T>
prolongation_arrays<T> make_on_host(const std::shared_ptr<device>& device,
                                    const prolongation_rows<T>& p, std::int64_t columns) {
    auto& on = static_cast<host_device&>(*device);
    const std::int64_t rows = p.a.rows;
    prolongation_arrays<T> made;
    made.offsets = {device, as_size(rows + 1), offsets_item};
    std::int64_t* const offsets = made.offsets.data();
    on.synchronize(); // the host reads offsets of A
    std::vector<part_entries<T>> parts;
    for (std::int64_t part = 0; part < on.threads(); ++part)
        parts.emplace_back(device, p, rows * part / on.threads(), rows * (part + 1) / on.threads());
    host::in_parts(*device, rows, [&, offsets](int part, int) {
        make_part(p, columns, parts[as_size(part)], offsets + 1);
    });
    on.submit([=] {
        offsets[0] = 0;
        for (std::int64_t i = 0; i < rows; ++i) offsets[i + 1] += offsets[i];
    });
    on.synchronize();
    made.columns = {device, as_size(offsets[rows]), columns_item};
    made.values = {device, as_size(offsets[rows]), values_item};
    host::in_parts(*device, rows,
                   [&, to = made.columns.data(), values = made.values.data()](int part, int) {
                       const part_entries<T>& found = parts[as_size(part)];
                       std::copy_n(found.columns.data(), found.count, to + offsets[found.begin]);
                       std::copy_n(found.values.data(), found.count, values + offsets[found.begin]);
                   });
    on.synchronize();
    return made;
}

} // namespace

template <class T>
prolongation_arrays<T> make_prolongation(const std::shared_ptr<device>& device,
                                         const prolongation_rows<T>& p, std::int64_t columns) {
#if KRYLITH_HAVE_CUDA
    if (device->kind() == backend::cuda) return make_on_cuda(device, p);
#endif
    return make_on_host(device, p, columns);
}

template <class T>
void refresh_prolongation(device& device, const prolongation_rows<T>& p, std::int64_t columns,
                          const std::int64_t* offsets, T* values) {
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda)
        return cuda::fill_prolongation(device, p, offsets, static_cast<std::int32_t*>(nullptr),
                                       values);
#endif
    host::in_ranges(device, p.a.rows, [=](std::int64_t begin, std::int64_t end) {
        row_maker<T> row(p, columns);
        std::vector<std::int32_t> found;
        for (std::int64_t i = begin; i < end; ++i) {
            if (found.size() < row.most(i)) found.resize(2 * row.most(i));
            row.make(i, found.data(), values + offsets[i]);
        }
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template prolongation_arrays<T> make_prolongation(const std::shared_ptr<device>&,              \
                                                      const prolongation_rows<T>&, std::int64_t);  \
    template void refresh_prolongation(device&, const prolongation_rows<T>&, std::int64_t,         \
                                       const std::int64_t*, T*);

#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation
