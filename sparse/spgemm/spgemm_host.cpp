#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_team.hpp>
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
    detail::refuse_order(row, b.indices[k - 1], b.indices[k]);
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

int team_for(int threads, std::int64_t products) {
    return static_cast<int>(
        std::clamp<std::int64_t>(products / products_worth_a_thread(), 1, threads));
}

template <class T>
class host_phases final : public detail::spgemm_phases<T> {
public:
    host_phases(const device_csr<T>& a, const device_csr<T>& b)
        : device_(a.on()), offsets_(device_, as_size(a.rows() + 1), memory_item) {
        const csr_pattern pa = device_pattern_of(a);
        const csr_pattern pb = device_pattern_of(b);
        std::int64_t disorder = -1;
        std::vector<column_list> found; // columns, by members of the team
        auto& host = host_of(device_);
        host.submit([&, threads = host.threads()] {
            disorder = find_disorder(pb, team_for(threads, pb.nonzeros));
            if (disorder < 0) found = count(pa, pb, threads);
        });
        host.synchronize();
        refuse_disorder(pb, disorder);
        indices_ = {device_, as_size(this->nonzeros), memory_item};
        host.submit([&, threads = host.threads()] { join(found, threads); });
        host.synchronize();
        this->bytes =
            static_cast<std::int64_t>((offsets_.size() + shares_.size()) * sizeof(std::int64_t) +
                                      indices_.size() * sizeof(std::int32_t));
        // The columns exist twice while they are joined.
        std::size_t vectors = 0;
        for (const auto& part : found) vectors += part.peak_bytes();
        this->peak_bytes = this->bytes + static_cast<std::int64_t>(vectors) +
                           threads_ * ((b.columns() + 63) / 64 * 24 + 4 * b.columns() + 32);
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
    /// Returns the columns of the rows of each share, and sets the offsets.
    std::vector<column_list> count(const csr_pattern& a, const csr_pattern& b, int most_threads) {
        std::int64_t* const offsets = offsets_.data();
        this->products = count_products(a, b, team_for(most_threads, a.nonzeros), offsets).products;
        threads_ = team_for(most_threads, this->products);
        shares_ = equal_products({offsets, as_size(a.rows + 1)}, threads_);
        std::vector<column_list> found;
        std::vector<std::int64_t> before; // the products before each share
        for (int share = 0; share < threads_; ++share) {
            before.push_back(offsets[shares_[as_size(share)]]);
            found.emplace_back(as_size(offsets[shares_[as_size(share) + 1]] - before.back()));
        }
        in_team(threads_, [&](int thread, int team) {
            for (int share = thread; share < threads_; share += team)
                count_rows(a, b, shares_[as_size(share)], shares_[as_size(share) + 1],
                           before[as_size(share)], found[as_size(share)], offsets + 1);
        });
        offsets[0] = 0;
        for (std::int64_t i = 0; i < a.rows; ++i) offsets[i + 1] += offsets[i];
        this->nonzeros = offsets[a.rows];
        return found;
    }

    void join(const std::vector<column_list>& found, int threads) {
        in_team(std::min(threads, threads_), [&](int thread, int team) {
            for (int share = thread; share < threads_; share += team)
                std::copy_n(found[as_size(share)].data(), found[as_size(share)].size(),
                            indices_.data() + offsets_.data()[shares_[as_size(share)]]);
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
                                                      const device_csr<T>& b) {
    return std::make_unique<host_phases<T>>(a, b);
}

template <class T>
spgemm_estimate estimate_spgemm(const device_csr<T>& a, const device_csr<T>& b) {
    spgemm_estimate e;
    auto& host = host_of(a.on());
    host.submit([&, threads = host.threads()] {
        e = count_products(device_pattern_of(a), device_pattern_of(b),
                           team_for(threads, a.nonzeros()), nullptr);
    });
    host.synchronize();
    e.result_bytes = 8 * (a.rows() + 1) + (4 + std::int64_t{sizeof(T)}) * e.most_nonzeros;
    // Offsets, the columns of C, lists of them that move as they grow, and for each thread a bit
    // and a mark a column.
    e.extra_bytes = 8 * (a.rows() + 1) + 4 * e.most_nonzeros + 8 * e.products +
                    host.threads() * (64 + (b.columns() + 63) / 64 * 24 + 4 * b.columns());
    return e;
}

template std::unique_ptr<detail::spgemm_phases<double>> make_spgemm(const device_csr<double>&,
                                                                    const device_csr<double>&);
template std::unique_ptr<detail::spgemm_phases<float>> make_spgemm(const device_csr<float>&,
                                                                   const device_csr<float>&);
template spgemm_estimate estimate_spgemm(const device_csr<double>&, const device_csr<double>&);
template spgemm_estimate estimate_spgemm(const device_csr<float>&, const device_csr<float>&);

} // namespace krylith::host
