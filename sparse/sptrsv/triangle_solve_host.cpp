#include <krylith/sparse/sptrsv/triangle_solve_host.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_team.hpp>
#include <krylith/sparse/sptrsv/level_stages.hpp>
#include <krylith/sparse/sptrsv/row_chains.hpp>
#include <krylith/sparse/sptrsv/team_barrier.hpp>
#include <krylith/sparse/sptrsv/triangle_rows.hpp>

namespace krylith::host {

namespace {

constexpr const char* item = "triangle";

/// One thread is done with fewer entries before a team has met at the first levels: where other
/// programs keep the processors busy, each level costs a turn of the scheduler.
constexpr std::int64_t worth_a_team = 16384;

/// Whether levels are wide enough for the team to go through them together.
bool worth_levels(std::int64_t rows, std::int64_t entries, std::int64_t shared, int threads) {
    return threads > 1 && entries >= worth_a_team && shared >= rows / 2;
}

std::string describe(std::int64_t levels, std::int64_t rows) {
    return std::to_string(levels) + " levels of " +
           std::to_string(levels == 0 ? 0 : rows / levels) + " rows";
}

/// The stages as plain pointers, for tasks.
struct stage_borders {
    const std::int64_t* borders;
    std::int64_t stages;
    int parts;
};

template <int Vectors, class T>
void solve_stages(const triangle_rows<T>& a, const triangular_vectors<T>& v, const stage_borders& s,
                  int threads) {
    if (threads <= 1 || s.parts == 1) return solve_places<Vectors>(a, v, 0, a.source.rows);
    team_barrier barrier;
    in_team(threads, [&](int thread, int team) {
        for (std::int64_t stage = 0; stage < s.stages; ++stage) {
            // The runtime may grant fewer threads than there are parts.
            for (std::int64_t part = thread; part < s.parts; part += team)
                solve_places<Vectors>(a, v, s.borders[stage * s.parts + part],
                                      s.borders[stage * s.parts + part + 1]);
            barrier.wait(team);
        }
    });
}

template <class T>
class rows_solve final : public triangle_solve<T> {
public:
    rows_solve(const device_csr<T>& a, const triangular_options& options, std::int64_t wide)
        : device_(a.on()) {
        const device_csr_view<T> view = a.view();
        const bool upper = options.part == triangle_part::upper;
        a_.source = {view.rows, view.offsets, view.indices, view.values, upper};
        this->rows = view.rows;
        this->together = options.together;
        device_->synchronize();
        if (options.method != triangular_method::rows) sort(options.method, wide);
        if (this->reason.empty()) this->reason = "rows in their own order were asked for";
        gather_pattern();
        if (options.diagonal == triangle_diagonal::stored)
            pivots_ = {device_, static_cast<std::size_t>(this->rows), item};
        a_.pivots = options.diagonal == triangle_diagonal::stored ? pivots_.data() : nullptr;
    }

    void solve(const triangular_vectors<T>& v, int count) override {
        host().submit([a = a_, v, count, s = stage_borders{borders_.data(), stages_, parts_},
                       threads = host().threads()] {
            switch (count) {
            case 1: return solve_stages<1>(a, v, s, threads);
            case 2: return solve_stages<2>(a, v, s, threads);
            case 3: return solve_stages<3>(a, v, s, threads);
            default: return solve_stages<4>(a, v, s, threads);
            }
        });
    }

    [[nodiscard]] std::int64_t update() override {
        device_->synchronize();
        std::vector<std::int64_t> bad(static_cast<std::size_t>(host().threads()), this->rows);
        in_team(host().threads(), [&](std::int64_t thread, std::int64_t team) {
            bad[static_cast<std::size_t>(thread)] =
                take_values(this->rows * thread / team, this->rows * (thread + 1) / team);
        });
        const std::int64_t first = *std::min_element(bad.begin(), bad.end());
        return first < this->rows ? first : -1;
    }

    [[nodiscard]] std::int64_t bytes() const override {
        return static_cast<std::int64_t>(
            (offsets_.size() + borders_.size()) * sizeof(std::int64_t) +
            columns_.size() * sizeof(std::int32_t) + (values_.size() + pivots_.size()) * sizeof(T) +
            order_.size() * sizeof(std::int32_t));
    }

private:
    [[nodiscard]] host_device& host() const { return static_cast<host_device&>(*device_); }

    void sort(triangular_method wanted, std::int64_t wide) {
        const rows_by_chain sorted = sort_chains(a_.source);
        const level_stages stages = plan_stages(sorted, host().threads(), wide);
        this->levels = sorted.depth;
        this->reason = describe(this->levels, this->rows);
        if (wanted == triangular_method::automatic &&
            !worth_levels(this->rows, a_.source.offsets[this->rows], stages.shared,
                          host().threads()))
            return;
        this->method = triangular_method::levels;
        order_ = {device_, std::span<const std::int32_t>(sorted.order), item};
        a_.order = order_.data();
        parts_ = stages.parts;
        stages_ = static_cast<std::int64_t>(stages.borders.size() - 1) / parts_;
        borders_ = {device_, std::span<const std::int64_t>(stages.borders), item};
        device_->synchronize();
    }

    /// Lays out the strict entries by place.
    void gather_pattern() {
        const triangle_source<T>& from = a_.source;
        offsets_ = {device_, static_cast<std::size_t>(this->rows) + 1, item};
        std::int64_t* const offsets = offsets_.data();
        offsets[0] = 0;
        for (std::int64_t place = 0; place < this->rows; ++place) {
            const std::int64_t row = a_.row_of(place);
            offsets[place + 1] = offsets[place];
            for (std::int64_t k = from.offsets[row]; k < from.offsets[row + 1]; ++k)
                if (from.depends(row, from.indices[k])) ++offsets[place + 1];
        }
        const auto entries = static_cast<std::size_t>(offsets[this->rows]);
        columns_ = {device_, entries, item};
        values_ = {device_, entries, item};
        a_.offsets = offsets_.data();
        a_.columns = columns_.data();
        a_.values = values_.data();
    }

    /// Fills in columns, values and pivots of places [first, last). Returns the first row whose
    /// pivot is 0, or the number of rows.
    std::int64_t take_values(std::int64_t first, std::int64_t last) const {
        const triangle_source<T>& from = a_.source;
        std::int64_t bad = this->rows;
        for (std::int64_t place = first; place < last; ++place) {
            const std::int64_t row = a_.row_of(place);
            std::int64_t to = offsets_.data()[place];
            T pivot = 0;
            for (std::int64_t k = from.offsets[row]; k < from.offsets[row + 1]; ++k) {
                if (from.indices[k] == row) pivot += from.values[k];
                if (!from.depends(row, from.indices[k])) continue;
                columns_.data()[to] = from.indices[k];
                values_.data()[to++] = from.values[k];
            }
            if (a_.pivots == nullptr) continue;
            pivots_.data()[place] = pivot;
            if (pivot == T{0}) bad = std::min(bad, row);
        }
        return bad;
    }

    std::shared_ptr<device> device_;
    triangle_rows<T> a_;
    int parts_ = 1;
    std::int64_t stages_ = 0;
    buffer<std::int64_t> borders_;
    buffer<std::int64_t> offsets_;
    buffer<std::int32_t> columns_;
    buffer<T> values_;
    buffer<T> pivots_;
    buffer<std::int32_t> order_;
};

} // namespace

template <class T>
std::unique_ptr<triangle_solve<T>>
make_triangle_solve(const device_csr<T>& a, const triangular_options& options, std::int64_t wide) {
    return std::make_unique<rows_solve<T>>(a, options, wide);
}

template <class T>
std::unique_ptr<triangle_solve<T>> make_triangle_solve(const device_csr<T>& a,
                                                       const triangular_options& options) {
    return make_triangle_solve(a, options, wide_level);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<triangle_solve<T>> make_triangle_solve(                               \
        const device_csr<T>&, const triangular_options&, std::int64_t);                            \
    template std::unique_ptr<triangle_solve<T>> make_triangle_solve(const device_csr<T>&,          \
                                                                    const triangular_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
