#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_team.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/matrix/compressed/entry_parts.hpp>
#include <krylith/sparse/spgemm/host_rows.hpp>
#include <krylith/sparse/spgemm/row_shares.hpp>
#include <krylith/sparse/spgemm/spgemm_phases.hpp>

namespace krylith::host {

namespace {

constexpr const char* memory_item = "product of matrices";

host_device& host_of(const std::shared_ptr<device>& device) {
    return static_cast<host_device&>(*device);
}

std::vector<entry_place> parts_of(const csr_pattern& a, int parts) {
    return divide_entries(
        {{a.offsets, as_size(a.rows) + 1}, {a.indices, as_size(a.nonzeros)}, a.columns}, parts);
}

/// Finds the first row of B out of order, -1 where there is none.
std::int64_t find_disorder(const csr_pattern& b, int threads) {
    std::atomic<std::int64_t> found{b.rows};
    const std::vector<entry_place> parts = parts_of(b, threads);
    const auto look_at = [&](std::int64_t row, std::int64_t k, std::int64_t end) {
        bool ascends = true;
        for (k += k == b.offsets[row] ? 1 : 0; k < end; ++k)
            ascends = ascends && b.indices[k - 1] < b.indices[k];
        if (ascends) return;
        std::int64_t known = found.load(std::memory_order_relaxed);
        while (row < known && !found.compare_exchange_weak(known, row, std::memory_order_relaxed)) {
        }
    };
    in_team(threads, [&](int thread, int team) {
        for (int part = thread; part < threads; part += team)
            for_each_row(b.offsets, parts[as_size(part)], parts[as_size(part) + 1], look_at);
    });
    return found == b.rows ? -1 : found.load();
}

void refuse_disorder(const csr_pattern& b, std::int64_t row) {
    if (row < 0) return;
    std::int64_t k = b.offsets[row] + 1;
    while (b.indices[k - 1] < b.indices[k]) ++k;
    detail::refuse_order("spgemm", "B", row, b.indices[k - 1], b.indices[k]);
}

/// Writes the products before each row of A, and all of them behind.
void count_products(const csr_pattern& a, const csr_pattern& b, int threads, std::int64_t* before) {
    const std::vector<entry_place> parts = parts_of(a, threads);
    std::vector<std::int64_t> heads(as_size(threads)); // of rows that began in an earlier part
    in_team(threads, [&](int thread, int team) {
        for (int part = thread; part < threads; part += team)
            for_each_row(a.offsets, parts[as_size(part)], parts[as_size(part) + 1],
                         [&](std::int64_t row, std::int64_t k, std::int64_t end) {
                             const bool begins = k == a.offsets[row];
                             std::int64_t sum = 0;
                             for (; k < end; ++k) {
                                 const std::int32_t from = a.indices[k];
                                 sum += b.offsets[from + 1] - b.offsets[from];
                             }
                             (begins ? before[row + 1] : heads[as_size(part)]) = sum;
                         });
    });
    for (int part = 1; part < threads; ++part)
        if (heads[as_size(part)] > 0)
            before[parts[as_size(part)].major + 1] += heads[as_size(part)];
    before[0] = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) before[i + 1] += before[i];
}

int spgemm_team(int threads, std::int64_t products) {
    return worthwhile_team(threads, products, products_worth_a_thread());
}

/// Lists of the columns of C, or of its values, one for each share of the rows, and their memory.
template <class V>
struct share_lists {
    std::vector<buffer<V>> memory;
    std::vector<entry_list<V>> lists;

    void add(const std::shared_ptr<device>& device, std::int64_t most, std::int64_t expected) {
        memory.emplace_back(device, as_size(expected), memory_item);
        lists.emplace_back(as_size(most), memory.back().data(), memory.back().size());
    }
    [[nodiscard]] std::int64_t peak_bytes() const {
        std::size_t sum = 0;
        for (const auto& list : lists) sum += list.peak_bytes();
        return static_cast<std::int64_t>(sum);
    }
};

/// How many entries of C a share may have.
struct share_size {
    std::int64_t most; ///< its products
    std::int64_t expected;
};

template <class T>
class host_phases final : public detail::spgemm_phases<T> {
public:
    /// Makes the plan. Where `c` is not null, C is made with it, and takes the pattern.
    host_phases(const device_csr<T>& a, const device_csr<T>& b, device_csr<T>* c)
        : device_(a.on()), offsets_(device_, as_size(a.rows() + 1), memory_item) {
        const csr_pattern pa = a.pattern();
        const csr_pattern pb = b.pattern();
        std::int64_t disorder = -1;
        std::vector<share_size> sizes;
        auto& host = host_of(device_);
        host.submit([&, threads = host.threads()] {
            if (!pb.ascends) disorder = find_disorder(pb, spgemm_team(threads, pb.nonzeros));
            if (disorder < 0) sizes = divide_rows(pa, pb, threads);
        });
        host.synchronize();
        refuse_disorder(pb, disorder);
        share_lists<std::int32_t> columns;
        share_lists<T> sums; // none where only the pattern is wanted
        for (const share_size& size : sizes) {
            columns.add(device_, size.most, size.expected);
            if (c != nullptr) sums.add(device_, size.most, size.expected);
        }
        host.submit(
            [&, av = a.view(), bv = b.view()] { find(pa, pb, av, bv, columns.lists, sums.lists); });
        host.synchronize();
        indices_ = {device_, as_size(this->nonzeros), memory_item};
        buffer<T> values;
        if (c != nullptr) values = {device_, as_size(this->nonzeros), "matrix"};
        host.submit([&] {
            join(columns.lists, indices_.data());
            if (c != nullptr) join(sums.lists, values.data());
        });
        host.synchronize();
        const std::int64_t kept = static_cast<std::int64_t>(shares_.size() * sizeof(row_share));
        this->bytes = kept + static_cast<std::int64_t>(offsets_.size() * sizeof(std::int64_t) +
                                                       indices_.size() * sizeof(std::int32_t));
        // The entries exist twice while they are joined.
        this->peak_bytes = this->bytes + columns.peak_bytes() + sums.peak_bytes() +
                           threads_ * ((b.columns() + 63) / 64 * 24 + 4 * b.columns() + 32);
        if (c == nullptr) return;
        this->peak_bytes += threads_ * b.columns() * column_sums<T>::bytes_a_column;
        this->bytes = kept;
        *c = {device_, b.columns(), std::move(offsets_), std::move(indices_), std::move(values)};
    }

    device_csr<T> multiply(const device_csr<T>& a, const device_csr<T>& b) override {
        constexpr const char* item = "matrix";
        buffer<std::int64_t> offsets(device_, offsets_.size(), item);
        buffer<std::int32_t> indices(device_, indices_.size(), item);
        buffer<T> values(device_, indices_.size(), item);
        device_->copy(offsets.data(), offsets_.data(), offsets.size() * sizeof(std::int64_t));
        device_->copy(indices.data(), indices_.data(), indices.size() * sizeof(std::int32_t));
        device_csr<T> c(device_, b.columns(), std::move(offsets), std::move(indices),
                        std::move(values));
        refresh(a, b, c);
        return c;
    }

    device_csr<T> take(const device_csr<T>& a, const device_csr<T>& b) override {
        buffer<T> values(device_, indices_.size(), "matrix");
        this->bytes = static_cast<std::int64_t>(shares_.size() * sizeof(row_share));
        device_csr<T> c(device_, b.columns(), std::move(offsets_), std::move(indices_),
                        std::move(values));
        refresh(a, b, c);
        return c;
    }

    void refresh(const device_csr<T>& a, const device_csr<T>& b, device_csr<T>& c) override {
        auto& host = host_of(device_);
        host.submit(
            [av = a.view(), bv = b.view(), cv = c.view(), values = c.values(), shares = shares_] {
                const int count = static_cast<int>(shares.size());
                in_team(count, [&](int thread, int team) {
                    std::vector<T> sums;
                    for (int share = thread; share < count; share += team)
                        add_up_rows(av, bv, shares[as_size(share)], cv, values, sums);
                });
            });
    }

private:
    /// Divides the rows into shares, and sets the offsets to the products before each row.
    std::vector<share_size> divide_rows(const csr_pattern& a, const csr_pattern& b,
                                        int most_threads) {
        std::int64_t* const before = offsets_.data();
        count_products(a, b, spgemm_team(most_threads, a.nonzeros), before);
        this->products = before[a.rows];
        threads_ = spgemm_team(most_threads, this->products);
        auto places = equal_products({before, as_size(a.rows + 1)}, threads_);
        cut_giant_rows(a, b, places, threads_);
        for (std::size_t at = 0; at + 1 < places.size(); ++at)
            shares_.push_back({places[at], places[at + 1], before[places[at].row]});
        std::vector<share_size> sizes(shares_.size());
        each_share([&](std::size_t share) { sizes[share] = size_of(a, b, shares_[share]); });
        return sizes;
    }

    /// Expects as many entries as a few of the share's rows have, for their products, or where
    /// these are too many to be looked at, as can be.
    share_size size_of(const csr_pattern& a, const csr_pattern& b, const row_share& share) const {
        constexpr std::int64_t looked_at = 64; // one of so many rows
        const std::int64_t* const products = offsets_.data();
        const std::int64_t begin = share.begin.row;
        const std::int64_t end = share.end.row;
        const std::int64_t most =
            products[end] + share.end.products - products[begin] - share.begin.products;
        const std::int64_t first = begin + (end - begin) / 2;
        const std::int64_t last = std::min(end, first + (end - begin) / looked_at + 1);
        const std::int64_t of_few = products[last] - products[first];
        if (first == last || of_few > most / 8 + 1024) {
            const std::int64_t places = (end - begin) * b.columns + share.end.column;
            return {most, std::min(most, places - share.begin.column)};
        }
        const double expected = 1.1 * static_cast<double>(count_entries(a, b, first, last)) /
                                static_cast<double>(std::max<std::int64_t>(of_few, 1)) *
                                static_cast<double>(most);
        return {most, std::min(most, static_cast<std::int64_t>(expected) + 1024)};
    }

    /// Lists the columns of the rows of each share, and the sums unless there are no lists for
    /// them, and sets the offsets.
    void find(const csr_pattern& pa, const csr_pattern& pb, const device_csr_view<T>& a,
              const device_csr_view<T>& b, std::vector<column_list>& columns,
              std::vector<entry_list<T>>& sums) {
        std::int64_t* const counts = offsets_.data() + 1;
        each_share([&](std::size_t share) {
            if (sums.empty())
                count_rows(pa, pb, shares_[share], columns[share], counts);
            else
                multiply_rows_at_once(a, b, shares_[share], columns[share], sums[share], counts);
        });
        for (const row_share& share : shares_)
            if (share.end.column > 0) counts[share.end.row] = 0;
        for (const row_share& share : shares_) {
            if (share.begin.column > 0) counts[share.begin.row] += share.head;
            if (share.end.column > 0) counts[share.end.row] += share.tail;
        }
        offsets_.data()[0] = 0;
        for (std::int64_t i = 0; i < a.rows; ++i) counts[i] += counts[i - 1];
        this->nonzeros = counts[a.rows - 1];
    }

    /// Copies what the shares found, one after the other, to C.
    template <class V>
    void join(const std::vector<entry_list<V>>& found, V* to) const {
        std::vector<V*> begins;
        for (const auto& list : found) {
            begins.push_back(to);
            to += list.size();
        }
        each_share([&](std::size_t share) {
            std::copy_n(found[share].data(), found[share].size(), begins[share]);
        });
    }

    /// Calls body(share) for the shares, each on a thread.
    template <class Body>
    void each_share(const Body& body) const {
        in_team(threads_, [&](int thread, int team) {
            for (int share = thread; share < threads_; share += team) body(as_size(share));
        });
    }

    std::shared_ptr<device> device_;
    buffer<std::int64_t> offsets_;  // of C
    buffer<std::int32_t> indices_;  // of C
    std::vector<row_share> shares_; // one of each thread
    int threads_ = 1;
};

} // namespace

template <class T>
std::unique_ptr<detail::spgemm_phases<T>> make_spgemm(const device_csr<T>& a,
                                                      const device_csr<T>& b, device_csr<T>* c) {
    return std::make_unique<host_phases<T>>(a, b, c);
}

template <class T>
spgemm_estimate estimate_spgemm(const device_csr<T>& a, const device_csr<T>& b) {
    spgemm_estimate e;
    auto& host = host_of(a.on());
    host.submit([&, threads = host.threads()] {
        std::vector<std::int64_t> before(as_size(a.rows()) + 1);
        count_products(a.pattern(), b.pattern(), spgemm_team(threads, a.nonzeros()), before.data());
        e.products = before.back();
        for (std::size_t row = 1; row < before.size(); ++row)
            e.most_nonzeros += std::min(before[row] - before[row - 1], b.columns());
    });
    host.synchronize();
    e.result_bytes = 8 * (a.rows() + 1) + (4 + std::int64_t{sizeof(T)}) * e.most_nonzeros;
    // Offsets, the columns of C, lists of them that move as they grow, and for each thread a bit
    // and a mark a column.
    e.extra_bytes = 8 * (a.rows() + 1) + 4 * e.most_nonzeros + 8 * e.products +
                    host.threads() * (128 + (b.columns() + 63) / 64 * 24 + 4 * b.columns());
    return e;
}

#define KRYLITH_INSTANTIATE(T) template struct instances<make_spgemm<T>, estimate_spgemm<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
