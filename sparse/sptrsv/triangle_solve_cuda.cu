#include <krylith/sparse/sptrsv/triangle_solve_cuda.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <krylith/sparse/sptrsv/chain_starts.hpp>
#include <krylith/sparse/sptrsv/level_order.hpp>
#include <krylith/sparse/sptrsv/solve_kernels.hpp>

#include <krylith/device/cuda/cuda_device.cuh>

namespace krylith::cuda {

namespace {

constexpr const char* triangle_item = "triangle";

template <class T>
triangle_source<T> source_of(const device_csr<T>& a, const triangular_options& options) {
    const device_csr_view<T> view = a.view();
    return {view.rows, view.offsets, view.indices, view.values,
            options.part == triangle_part::upper};
}

/// What both methods have in common.
template <class T>
class resident_solve : public triangle_solve<T> {
protected:
    resident_solve(const device_csr<T>& a, const triangular_options& options)
        : device_(a.on()),
          source_(source_of(a, options)),
          unit_(options.diagonal == triangle_diagonal::unit) {
        this->rows = source_.rows;
        this->together = options.together == 3 ? 4 : options.together;
    }

    /// The words of rows that wait for each other.
    void make_words() {
        if (source_.rows == 0) return;
        words_ = {device_, static_cast<std::size_t>(2 * source_.rows * this->together),
                  triangle_item};
        counters_ = {device_, 1, triangle_item};
        counters_.zero();
        forget_words(*device_, words_.data(), static_cast<std::int64_t>(words_.size()));
    }
    [[nodiscard]] solve_words<T> words() const {
        return {words_.data(), counters_.data(), this->together};
    }
    [[nodiscard]] std::int64_t word_bytes() const {
        return static_cast<std::int64_t>(words_.size() * sizeof(T) +
                                         counters_.size() * sizeof(solve_counters));
    }

    std::shared_ptr<device> device_;
    triangle_source<T> source_;
    bool unit_;

private:
    buffer<T> words_;
    buffer<solve_counters> counters_;
};

template <class T>
class row_solver final : public resident_solve<T> {
public:
    row_solver(const device_csr<T>& a, const triangular_options& options, unsigned blocks)
        : resident_solve<T>(a, options) {
        launch_.blocks = blocks;
        this->method = triangular_method::rows;
        this->reason = "rows in their own order were asked for";
        chains_ = find_chains(this->device_, this->source_);
        chains_.starts = {};
        this->source_.sorted = chains_.sorted;
        this->make_words();
    }
    void solve(const triangular_vectors<T>& v, int count) override {
        triangular_vectors<T> some = v;
        some.count = count;
        solve_rows(*this->device_, this->source_, this->unit_, chains_.places.data(), chains_.count,
                   some, this->words(), launch_);
    }
    std::int64_t update() override {
        if (this->unit_ || this->rows == 0) return -1;
        return find_bad_pivot(this->device_, this->source_);
    }
    [[nodiscard]] std::int64_t bytes() const override {
        return this->word_bytes() +
               static_cast<std::int64_t>(chains_.places.size() * sizeof(std::int32_t));
    }

private:
    solve_launch launch_;
    chain_starts chains_;
};

/// Rows of a level that pay a launch of their own: those that wait for nothing need no words.
constexpr std::int64_t rows_a_launch = 1 << 17;

/// Rows of a level up to which a single block is faster than many: its threads wait in L1, and it
/// has the bandwidth of one multiprocessor.
constexpr std::int64_t rows_a_block = 16;

template <class T>
class level_solver final : public resident_solve<T> {
public:
    level_solver(const device_csr<T>& a, const triangular_options& options, unsigned blocks)
        : resident_solve<T>(a, options) {
        this->method = triangular_method::levels;
        launch_.blocks = blocks;
        const std::vector<std::int64_t> ranges = wide_ranges(options, blocks);
        std::optional<level_order> known;
        if (!ranges.empty()) known = order_by_ranges(this->device_, this->source_, ranges);
        const bool by_ranges = known.has_value();
        level_order order =
            by_ranges ? *std::move(known) : order_by_level(this->device_, this->source_);
        this->levels = order.levels;
        const std::int64_t width = this->levels == 0 ? 0 : this->rows / this->levels;
        this->reason =
            std::to_string(this->levels) + " levels of " + std::to_string(width) + " rows: ";
        wide_ = width >= rows_a_launch && blocks == 0;
        launch_.one_block = width <= rows_a_block && blocks == 0;
        this->reason += wide_               ? "a launch for each"
                        : launch_.one_block ? "one block, whose rows wait for each other"
                                            : "one kernel, whose rows wait for each other";
        plan_ = plan_slices(this->device_, order, wide_);
        if (plan_.slices != 0)
            launch_.steps = static_cast<int>((plan_.steps + plan_.slices - 1) / plan_.slices);
        columns_ = {this->device_, static_cast<std::size_t>(plan_.steps * 32), triangle_item};
        values_ = {this->device_, static_cast<std::size_t>(plan_.steps * 32), triangle_item};
        if (!this->unit_)
            pivots_ = {this->device_, static_cast<std::size_t>(this->rows), triangle_item};
        if (by_ranges)
            first_slices_ = slices_at(this->device_, plan_, in_order_of_solving(ranges));
        else if (wide_)
            find_levels(order);
        else
            this->make_words();
        order_ = std::move(order.order);
        if (!wide_) places_ = std::move(order.places);
    }

    void solve(const triangular_vectors<T>& v, int count) override {
        triangular_vectors<T> some = v;
        some.count = count;
        const triangle_slices<T> a{this->rows,      plan_.slices,   plan_.heads.data(),
                                   columns_.data(), values_.data(), pivots_.data(),
                                   order_.data()};
        if (!wide_) return solve_slices(*this->device_, a, some, this->words(), launch_);
        for (std::size_t l = 0; l + 1 < first_slices_.size(); ++l)
            solve_level(*this->device_, a, some, this->together, first_slices_[l],
                        first_slices_[l + 1]);
    }

    std::int64_t update() override {
        if (this->rows == 0) return -1;
        const buffer<unsigned> bad(this->device_, 1, triangle_item);
        {
            const launch_scope launch(*this->device_);
            KRYLITH_CUDA_CHECK(
                cudaMemsetAsync(bad.data(), 0xff, sizeof(unsigned), launch.stream()));
        }
        fill_slices(*this->device_, this->source_, plan_, order_.data(), places_.data(),
                    has_columns_ ? nullptr : columns_.data(), values_.data(), pivots_.data(),
                    bad.data());
        has_columns_ = true;
        places_ = {};
        const unsigned row = bad.download().front();
        return row == ~0u ? -1 : std::int64_t{row};
    }

    [[nodiscard]] std::int64_t bytes() const override {
        return static_cast<std::int64_t>(plan_.heads.size() * sizeof(triangle_slice) +
                                         (columns_.size() + order_.size() + places_.size()) *
                                             sizeof(std::int32_t) +
                                         (values_.size() + pivots_.size()) * sizeof(T)) +
               this->word_bytes();
    }

private:
    /// The ranges that are known not to be coupled within, without empty ones, where each pays a
    /// launch of its own.
    [[nodiscard]] std::vector<std::int64_t> wide_ranges(const triangular_options& options,
                                                        unsigned blocks) const {
        std::vector<std::int64_t> ranges;
        for (const std::int64_t row : options.ranges)
            if (ranges.empty() || ranges.back() != row) ranges.push_back(row);
        const auto count = static_cast<std::int64_t>(ranges.size()) - 1;
        if (blocks != 0 || count < 1 || this->rows / count < rows_a_launch) return {};
        return ranges;
    }
    /// The first places of ranges, and the number of rows.
    [[nodiscard]] std::vector<std::int64_t>
    in_order_of_solving(std::vector<std::int64_t> ranges) const {
        if (!this->source_.upper) return ranges;
        std::reverse(ranges.begin(), ranges.end());
        for (std::int64_t& row : ranges) row = this->rows - row;
        return ranges;
    }
    /// The first slice of each level, where slices are of one level. There are few levels.
    void find_levels(const level_order& order) {
        first_slices_ = slices_at(this->device_, plan_, first_places(this->device_, order));
    }

    solve_launch launch_;
    bool wide_ = false;
    bool has_columns_ = false;
    slice_plan plan_;
    std::vector<std::int64_t> first_slices_;
    buffer<std::int32_t> columns_;
    buffer<T> values_;
    buffer<T> pivots_;
    buffer<std::int32_t> order_;
    buffer<std::int32_t> places_;
};

} // namespace

template <class T>
std::unique_ptr<triangle_solve<T>>
make_triangle_solve(const device_csr<T>& a, const triangular_options& options, unsigned blocks) {
    if (options.method == triangular_method::rows)
        return std::make_unique<row_solver<T>>(a, options, blocks);
    return std::make_unique<level_solver<T>>(a, options, blocks);
}

template <class T>
std::unique_ptr<triangle_solve<T>> make_triangle_solve(const device_csr<T>& a,
                                                       const triangular_options& options) {
    return make_triangle_solve(a, options, 0);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<triangle_solve<T>> make_triangle_solve(                               \
        const device_csr<T>&, const triangular_options&, unsigned);                                \
    template std::unique_ptr<triangle_solve<T>> make_triangle_solve(const device_csr<T>&,          \
                                                                    const triangular_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
