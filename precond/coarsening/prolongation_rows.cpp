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

/// The terms of one row of P, and their sums by columns.
template <class T>
class row_terms {
public:
    void begin() {
        terms_.clear();
        few_ = 0;
    }
    /// Adds to the sum of a column. Terms of few columns are added up at once; where there are
    /// more, all are kept, and sorted at the end.
    void add(std::int32_t column, T term) {
        for (std::size_t i = 0; i < few_; ++i)
            if (terms_[i].first == column) {
                terms_[i].second += term;
                return;
            }
        if (few_ < most_few && few_ == terms_.size()) {
            terms_.emplace_back(column, term);
            ++few_;
            return;
        }
        terms_.emplace_back(column, term);
    }
    /// The columns in ascending order, with their sums.
    [[nodiscard]] const std::vector<std::pair<std::int32_t, T>>& end() {
        if (terms_.size() == few_) {
            for (std::size_t i = 1; i < few_; ++i)
                for (std::size_t j = i; j > 0 && terms_[j].first < terms_[j - 1].first; --j)
                    std::swap(terms_[j], terms_[j - 1]);
            return terms_;
        }
        std::stable_sort(terms_.begin(), terms_.end(),
                         [](const auto& x, const auto& y) { return x.first < y.first; });
        std::size_t last = 0;
        for (std::size_t i = 1; i < terms_.size(); ++i) {
            if (terms_[i].first == terms_[last].first)
                terms_[last].second += terms_[i].second;
            else
                terms_[++last] = terms_[i];
        }
        terms_.resize(last + 1);
        return terms_;
    }

private:
    static constexpr std::size_t most_few = 32;
    std::vector<std::pair<std::int32_t, T>> terms_;
    std::size_t few_ = 0;
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
            counts[i] = static_cast<std::int32_t>(terms.end().size());
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
            for (const auto& [g, sum] : terms.end()) {
                if (columns != nullptr) columns[to] = g;
                values[to++] =
                    minus_product(g == p.aggregate[own] ? p.tentative[own] : T(0), factor, sum);
            }
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
