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
#include <krylith/sparse/spgemm/host_rows.hpp>
#include <krylith/sparse/spgemm/row_shares.hpp>
#include <krylith/sparse/spgemm/spgemm_phases.hpp>

namespace krylith::host {

namespace {

constexpr const char* memory_item = "product of matrices";

host_device& host_of(const std::shared_ptr<device>& device) {
    return static_cast<host_device&>(*device);
}

/// Finds the first row of B out of order, -1 where there is none.
std::int64_t find_disorder(const csr_pattern& b, int threads) {
    std::atomic<std::int64_t> first{b.rows};
    in_team(threads, [&](int thread, int team) {
        const std::int64_t end = b.rows * (thread + 1) / team;
        for (std::int64_t i = b.rows * thread / team; i < end; ++i) {
            bool ascends = true;
            for (std::int64_t k = b.offsets[i]; k + 1 < b.offsets[i + 1]; ++k)
                ascends = ascends && b.indices[k] < b.indices[k + 1];
            if (ascends) continue;
            std::int64_t known = first.load(std::memory_order_relaxed);
            while (i < known && !first.compare_exchange_weak(known, i, std::memory_order_relaxed)) {
            }
            break;
        }
    });
    return first == b.rows ? -1 : first.load();
}

void refuse_disorder(const csr_pattern& b, std::int64_t row) {
    if (row < 0) return;
    std::int64_t k = b.offsets[row] + 1;
    while (b.indices[k - 1] < b.indices[k]) ++k;
    detail::refuse_order("spgemm", "B", row, b.indices[k - 1], b.indices[k]);
}

/// Fills an estimate, but for the bytes, and the products before each row where `before` is not
/// null.
spgemm_estimate count_products(const csr_pattern& a, const csr_pattern& b, int threads,
                               std::int64_t* before) {
    std::atomic<std::int64_t> products{0};
    std::atomic<std::int64_t> results{0};
    in_team(threads, [&](int thread, int team) {
        std::int64_t sum = 0;
        std::int64_t most = 0;
        const std::int64_t end = a.rows * (thread + 1) / team;
        for (std::int64_t i = a.rows * thread / team; i < end; ++i) {
            std::int64_t row = 0;
            for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
                const std::int32_t from = a.indices[k];
                row += b.offsets[from + 1] - b.offsets[from];
            }
            if (before != nullptr) before[i + 1] = row;
            sum += row;
            most += std::min(row, b.columns);
        }
        products += sum;
        results += most;
    });
    spgemm_estimate e;
    e.products = products;
    e.most_nonzeros = results;
    if (before == nullptr) return e;
    before[0] = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) before[i + 1] += before[i];
    return e;
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

/// What is known of a share before its rows are made.
struct share_size {
    std::int64_t products_before;
    std::int64_t most;     ///< entries of C: its products
    std::int64_t expected; ///< entries of C
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
            if (disorder < 0) sizes = share_rows(pa, pb, threads);
        });
        host.synchronize();
        refuse_disorder(pb, disorder);
        share_lists<std::int32_t> columns;
        share_lists<T> sums; // none where only the pattern is wanted
        for (const share_size& size : sizes) {
            columns.add(device_, size.most, size.expected);
            if (c != nullptr) sums.add(device_, size.most, size.expected);
        }
        host.submit([&, av = a.view(), bv = b.view()] {
            find(pa, pb, av, bv, sizes, columns.lists, sums.lists);
        });
        host.synchronize();
        indices_ = {device_, as_size(this->nonzeros), memory_item};
        buffer<T> values;
        if (c != nullptr) values = {device_, as_size(this->nonzeros), "matrix"};
        host.submit([&] {
            join(columns.lists, indices_.data());
            if (c != nullptr) join(sums.lists, values.data());
        });
        host.synchronize();
        this->bytes =
            static_cast<std::int64_t>((offsets_.size() + shares_.size()) * sizeof(std::int64_t) +
                                      indices_.size() * sizeof(std::int32_t));
        // The entries exist twice while they are joined.
        this->peak_bytes = this->bytes + columns.peak_bytes() + sums.peak_bytes() +
                           threads_ * ((b.columns() + 63) / 64 * 24 + 4 * b.columns() + 32);
        if (c == nullptr) return;
        this->peak_bytes += threads_ * b.columns() * column_sums<T>::bytes_a_column;
        this->bytes = static_cast<std::int64_t>(shares_.size() * sizeof(std::int64_t));
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
        this->bytes = static_cast<std::int64_t>(shares_.size() * sizeof(std::int64_t));
        device_csr<T> c(device_, b.columns(), std::move(offsets_), std::move(indices_),
                        std::move(values));
        refresh(a, b, c);
        return c;
    }

    void refresh(const device_csr<T>& a, const device_csr<T>& b, device_csr<T>& c) override {
        auto& host = host_of(device_);
        host.submit([av = a.view(), bv = b.view(), cv = c.view(), values = c.values(),
                     shares = shares_, threads = threads_] {
            in_team(threads, [&](int thread, int team) {
                std::vector<T> sums;
                for (int share = thread; share < threads; share += team)
                    add_up_rows(av, bv, shares[as_size(share)], shares[as_size(share) + 1], cv,
                                values, sums);
            });
        });
    }

private:
    /// Divides the rows into shares, and sets the offsets to the products before each row.
    std::vector<share_size> share_rows(const csr_pattern& a, const csr_pattern& b,
                                       int most_threads) {
        std::int64_t* const offsets = offsets_.data();
        this->products =
            count_products(a, b, spgemm_team(most_threads, a.nonzeros), offsets).products;
        threads_ = spgemm_team(most_threads, this->products);
        shares_ = equal_products({offsets, as_size(a.rows + 1)}, threads_);
        std::vector<share_size> sizes(as_size(threads_));
        in_team(threads_, [&](int thread, int team) {
            for (int share = thread; share < threads_; share += team)
                sizes[as_size(share)] = size_of(a, b, share);
        });
        return sizes;
    }

    /// Expects as many entries as a few of the share's rows have, for their products.
    share_size size_of(const csr_pattern& a, const csr_pattern& b, int share) const {
        constexpr std::int64_t looked_at = 64; // one of so many rows
        const std::int64_t* const products = offsets_.data();
        const std::int64_t begin = shares_[as_size(share)];
        const std::int64_t end = shares_[as_size(share) + 1];
        const std::int64_t most = products[end] - products[begin];
        const std::int64_t first = begin + (end - begin) / 2;
        const std::int64_t last = std::min(end, first + (end - begin) / looked_at + 1);
        const double of_few =
            static_cast<double>(count_entries(a, b, first, last)) /
            static_cast<double>(std::max<std::int64_t>(products[last] - products[first], 1));
        const auto expected = static_cast<std::int64_t>(1.1 * of_few * static_cast<double>(most));
        return {products[begin], most, std::min(most, expected + 1024)};
    }

    /// Lists the columns of the rows of each share, and the sums unless there are no lists for
    /// them, and sets the offsets.
    void find(const csr_pattern& pa, const csr_pattern& pb, const device_csr_view<T>& a,
              const device_csr_view<T>& b, const std::vector<share_size>& sizes,
              std::vector<column_list>& columns, std::vector<entry_list<T>>& sums) {
        std::int64_t* const offsets = offsets_.data();
        in_team(threads_, [&](int thread, int team) {
            for (int share = thread; share < threads_; share += team) {
                const std::size_t at = as_size(share);
                const std::int64_t begin = shares_[at];
                const std::int64_t end = shares_[at + 1];
                const std::int64_t before = sizes[at].products_before;
                if (sums.empty())
                    count_rows(pa, pb, begin, end, before, columns[at], offsets + 1);
                else
                    multiply_rows_at_once(a, b, begin, end, before, columns[at], sums[at],
                                          offsets + 1);
            }
        });
        offsets[0] = 0;
        for (std::int64_t i = 0; i < a.rows; ++i) offsets[i + 1] += offsets[i];
        this->nonzeros = offsets[a.rows];
    }

    /// Copies what the shares found to where it belongs in C.
    template <class V>
    void join(const std::vector<entry_list<V>>& found, V* to) const {
        in_team(threads_, [&](int thread, int team) {
            for (int share = thread; share < threads_; share += team)
                std::copy_n(found[as_size(share)].data(), found[as_size(share)].size(),
                            to + offsets_.data()[shares_[as_size(share)]]);
        });
    }

    std::shared_ptr<device> device_;
    buffer<std::int64_t> offsets_;     // of C
    buffer<std::int32_t> indices_;     // of C
    std::vector<std::int64_t> shares_; // the first row of each thread, and the number of rows
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
        e = count_products(a.pattern(), b.pattern(), spgemm_team(threads, a.nonzeros()), nullptr);
    });
    host.synchronize();
    e.result_bytes = 8 * (a.rows() + 1) + (4 + std::int64_t{sizeof(T)}) * e.most_nonzeros;
    // Offsets, the columns of C, lists of them that move as they grow, and for each thread a bit
    // and a mark a column.
    e.extra_bytes = 8 * (a.rows() + 1) + 4 * e.most_nonzeros + 8 * e.products +
                    host.threads() * (64 + (b.columns() + 63) / 64 * 24 + 4 * b.columns());
    return e;
}

#define KRYLITH_INSTANTIATE(T) template struct instances<make_spgemm<T>, estimate_spgemm<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
