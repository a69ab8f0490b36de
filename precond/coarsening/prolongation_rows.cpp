#include <krylith/precond/coarsening/prolongation_rows.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <krylith/config.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_team.hpp>
#include <krylith/precond/coarsening/shared_numbers.hpp>

namespace krylith::aggregation {

namespace {

/// The terms of one row of P, and their sums by columns. Terms of few columns are added up at once;
/// those of further columns are kept, and sorted at the end.
template <class T>
class row_terms {
public:
    void begin() {
        few_ = 0;
        more_.clear();
    }
    void add(std::int32_t column, T term) {
        int place = 0;
        while (place < few_ && columns_[place] != column) ++place;
        if (place < few_) {
            sums_[place] += term;
        } else if (few_ < most_few) {
            columns_[few_] = column;
            sums_[few_++] = term;
        } else {
            more_.emplace_back(column, term);
        }
    }
    /// The number of columns. It sorts where there are many.
    [[nodiscard]] int count() {
        if (!more_.empty()) sort_all();
        return more_.empty() ? few_ : static_cast<int>(more_.size());
    }
    /// Calls body(column, sum) in the order of columns.
    template <class Body>
    void each(const Body& body) {
        if (!more_.empty()) {
            sort_all();
            for (const auto& [column, sum] : more_) body(column, sum);
            return;
        }
        for (int i = 1; i < few_; ++i)
            for (int j = i; j > 0 && columns_[j] < columns_[j - 1]; --j) {
                std::swap(columns_[j], columns_[j - 1]);
                std::swap(sums_[j], sums_[j - 1]);
            }
        for (int i = 0; i < few_; ++i) body(columns_[i], sums_[i]);
    }

private:
    void sort_all() {
        for (int i = 0; i < few_; ++i) more_.emplace_back(columns_[i], sums_[i]);
        few_ = 0;
        std::stable_sort(more_.begin(), more_.end(),
                         [](const auto& x, const auto& y) { return x.first < y.first; });
        std::size_t last = 0;
        for (std::size_t i = 1; i < more_.size(); ++i) {
            if (more_[i].first == more_[last].first)
                more_[last].second += more_[i].second;
            else
                more_[++last] = more_[i];
        }
        more_.resize(last + 1);
    }

    static constexpr int most_few = 32;
    std::int32_t columns_[most_few];
    T sums_[most_few];
    int few_ = 0;
    std::vector<std::pair<std::int32_t, T>> more_;
};

template <class T>
void add_row(const prolongation_rows<T>& p, std::int64_t row, row_terms<T>& terms, bool values) {
    const std::int32_t own = p.a.own(row);
    terms.begin();
    if (p.aggregate[own] < 0) return;
    if (!p.smooth) return terms.add(p.aggregate[own], T(0));
    for (std::int64_t k = p.a.offsets[row]; k < p.a.offsets[row + 1]; ++k) {
        const std::int32_t j = p.a.indices[k];
        if (j != own && p.a.couplings[k] == 0) continue;
        const std::int32_t g = p.aggregate[j];
        if (g < 0) continue;
        const T term = !values ? T(0) : (j == own ? p.filtered[row] : p.values[k]) * p.tentative[j];
        terms.add(g, term);
    }
}

template <class Body>
void on_host(device& device, std::int64_t rows, const Body& body) {
    auto& host = static_cast<host_device&>(device);
    host.submit([=, threads = rows < 4096 ? 1 : host.threads()] {
        in_team(threads, [&](int thread, int team) {
            body(rows * thread / team, rows * (thread + 1) / team);
        });
    });
}

} // namespace

template <class T>
void count_prolongation(device& device, const prolongation_rows<T>& p, std::int32_t* counts) {
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda) return cuda::count_prolongation(device, p, counts);
#endif
    on_host(device, p.a.rows, [=](std::int64_t begin, std::int64_t end) {
        row_terms<T> terms;
        for (std::int64_t i = begin; i < end; ++i) {
            add_row(p, i, terms, false);
            counts[i] = terms.count();
        }
    });
}

template <class T>
void fill_prolongation(device& device, const prolongation_rows<T>& p, const std::int64_t* offsets,
                       std::int32_t* columns, T* values) {
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda)
        return cuda::fill_prolongation(device, p, offsets, columns, values);
#endif
    on_host(device, p.a.rows, [=](std::int64_t begin, std::int64_t end) {
        row_terms<T> terms;
        for (std::int64_t i = begin; i < end; ++i) {
            add_row(p, i, terms, true);
            const std::int32_t own = p.a.own(i);
            std::int64_t to = offsets[i];
            const T factor = p.smooth ? p.omega / p.filtered[i] : T(0);
            terms.each([&](std::int32_t g, T sum) {
                if (columns != nullptr) columns[to] = g;
                values[to++] =
                    minus_product(g == p.aggregate[own] ? p.tentative[own] : T(0), factor, sum);
            });
        }
    });
}

template void count_prolongation(device&, const prolongation_rows<double>&, std::int32_t*);
template void count_prolongation(device&, const prolongation_rows<float>&, std::int32_t*);
template void fill_prolongation(device&, const prolongation_rows<double>&, const std::int64_t*,
                                std::int32_t*, double*);
template void fill_prolongation(device&, const prolongation_rows<float>&, const std::int64_t*,
                                std::int32_t*, float*);

} // namespace krylith::aggregation
