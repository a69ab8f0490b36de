// The symbolic phase of C = A B on a CUDA device.
#include <algorithm>
#include <numeric>
#include <span>

#include <krylith/sparse/spgemm/blocked_rows.cuh>
#include <krylith/sparse/spgemm/byte_peak.hpp>
#include <krylith/sparse/spgemm/class_lists.cuh>
#include <krylith/sparse/spgemm/giant_rows.hpp>
#include <krylith/sparse/spgemm/hashed_rows.cuh>
#include <krylith/sparse/spgemm/merged_rows.cuh>
#include <krylith/sparse/spgemm/neighbouring_rows.cuh>
#include <krylith/sparse/spgemm/product_totals.hpp>
#include <krylith/sparse/spgemm/ranged_rows.cuh>
#include <krylith/sparse/spgemm/spgemm_phases.hpp>
#include <krylith/sparse/spgemm/spgemm_plan.hpp>
#include <krylith/sparse/spgemm/symbolic_arrays.cuh>
#include <krylith/sparse/spgemm/wide_rows.cuh>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/shared_memory.cuh>

namespace krylith::cuda {

namespace {

static_assert(static_cast<int>(count_class::number) <= class_lists::most &&
              static_cast<int>(sum_class::number) <= class_lists::most);
static_assert(scan_scratch_bytes_of<std::int64_t> <= symbolic_scratch_bytes);

int width_for(std::int64_t products, std::int64_t nonzeros) {
    int width = 4;
    while (width < 32 && width * nonzeros < products) width *= 2;
    return width;
}

template <class Number>
Number* zeroed(device& device, Number* word) {
    device.zero(word, sizeof *word);
    return word;
}

class symbolic_phase {
public:
    symbolic_phase(const std::shared_ptr<device>& device, const csr_pattern& a,
                   const csr_pattern& b, const row_limits& limits)
        : device_(device), a_(a), b_(b), rules_{limits, b.columns} {}

    spgemm_plan run() {
        plan_.offsets = bytes_.make<std::int64_t>(device_, a_.rows + 1);
        plan_.next = bytes_.make<unsigned long long>(device_, 2);
        device_->zero(plan_.offsets.data() + a_.rows, sizeof(std::int64_t));
        products_ = bytes_.make<std::uint32_t>(device_, a_.rows);
        bytes_.pass(product_totals_bytes(a_));
        product_totals totals = find_product_totals(device_, a_, b_, rules_, products_.data());
        refuse_disorder(device_, b_, totals);
        plan_.products = static_cast<std::int64_t>(totals.products);
        plan_.width = width_for(plan_.products, a_.nonzeros);
        decide_on_many(totals);
        if (a_.rows != 0) count_rows(totals);
        plan_.peak_bytes = bytes_.peak();
        return std::move(plan_);
    }

private:
    /// Hashes rows of many products where most of some that are tried have few results.
    void decide_on_many(product_totals& totals) {
        if (!rules_.limits.places || totals.of_many < rules_.limits.sampled_rows / 8) return;
        constexpr std::int64_t tried = 2048; // rows of A, of which some are of this kind
        const std::int64_t every = std::max<std::int64_t>(a_.rows / tried, 1);
        unsigned found[2] = {}; // tried, and few
        zeroed(*device_, plan_.next.data());
        auto* const counters = reinterpret_cast<unsigned*>(plan_.next.data());
        launch_for(try_many_products, std::min(a_.rows, tried), block_warps, rules_,
                   products_.data(), every, counters);
        device_->download(found, counters, sizeof found);
        if (found[1] * std::int64_t{10} < found[0] * std::int64_t{9} || found[0] == 0) return;
        rules_.hash_many = true;
        totals.rows_of[static_cast<int>(count_class::wide)] -= totals.of_many;
        totals.rows_of[static_cast<int>(count_class::hashed)] += totals.of_many;
        totals.placed += totals.many_placed;
    }

    void count_rows(const product_totals& totals) {
        scratch_ = bytes_.make<char>(device_, symbolic_scratch_bytes);
        counts_ = bytes_.make<std::int32_t>(device_, a_.rows);
        count_by_class(totals);
        scan(*device_, result_offsets{counts_.data(), a_.rows, plan_.offsets.data()}, a_.rows,
             scratch_.data());
        divide_results();
    }

    /// Lists the rows of classes, of which class c has counts[c] rows, in `room`; none of a class
    /// that has all.
    template <class Class>
    void list_rows(const Class& which, std::span<const unsigned> counts, std::int32_t* room,
                   std::span<row_list> lists) {
        class_lists to;
        bool any = false;
        for (std::size_t c = 0; c < counts.size(); ++c) {
            lists[c] = {nullptr, counts[c]};
            if (counts[c] == 0 || counts[c] == a_.rows) continue;
            lists[c].rows = to.of[c] = room;
            room += counts[c];
            any = true;
        }
        if (any) list_by_class(*device_, which, a_.rows, to, scratch_.data());
    }

    void count_by_class(const product_totals& totals) {
        bool mixed = true;
        for (int c = 0; c < static_cast<int>(count_class::number); ++c)
            mixed = mixed && totals.rows_of[c] != a_.rows;
        buffer<std::int32_t> lists;
        if (mixed) lists = bytes_.make<std::int32_t>(device_, a_.rows);
        unsigned listed[static_cast<int>(count_class::number)];
        std::ranges::copy(totals.rows_of, listed);
        listed[static_cast<int>(count_class::none)] = 0;
        row_list of_class[static_cast<int>(count_class::number)];
        list_rows(count_class_of{rules_, a_.offsets, products_.data()}, listed, lists.data(),
                  of_class);
        const auto rows = [&](count_class c) { return of_class[static_cast<int>(c)]; };
        if (totals.rows_of[static_cast<int>(count_class::none)] != 0) counts_.zero();
        const row_list hashed = rows(count_class::hashed);
        const joined_lists alone = take_neighbours(hashed);
        const symbolic_results to = make_places(totals);
        launch_list(merged_rows, rows(count_class::merged), block_threads, to);
        launch_list(short_rows<8, 64>, rows(count_class::short_64), block_threads / 8, to);
        count_long_rows(hashed.count, alone, rows(count_class::wide), to);
        count_giants(rows(count_class::giant));
        bytes_.drop(alone_);
        bytes_.drop(alone_count_);
        if (plan_.neighbours.count() != 0)
            plan_.neighbours.lists = std::move(lists);
        else
            bytes_.drop(lists);
    }

    /// Counts the rows of many products: hashed ones, of which there are at most `most_hashed`, by
    /// a warp, wide ones and what is left by a block. Kernels list the rows that they have no room
    /// for, and the next takes them.
    void count_long_rows(std::int64_t most_hashed, const joined_lists& hashed, const row_list& wide,
                         const symbolic_results& to) {
        const std::int64_t all = most_hashed + wide.count;
        if (all == 0) return;
        const std::int64_t blocked = b_.columns >= least_blocked_columns ? all : 0;
        buffer<std::int32_t> overflow =
            bytes_.make<std::int32_t>(device_, most_hashed + 2 * blocked);
        buffer<unsigned> counters = bytes_.make<unsigned>(device_, 4);
        counters.zero();
        const overflow_list left_by_hashed{overflow.data(), counters.data()};
        const overflow_list left_by_ranges{left_by_hashed.rows + most_hashed, counters.data() + 1};
        const overflow_list left_by_blocks{left_by_ranges.rows + blocked, counters.data() + 2};
        launch_for(hashed_rows, most_hashed, block_warps, hashed, to, left_by_hashed);
        joined_lists lists_left{wide, left_by_hashed.rows, left_by_hashed.count};
        if (blocked != 0) {
            make_pool(wide, left_by_blocks);
            const column_pool room = pool();
            launch_for(ranged_rows, blocked, 1, lists_left, plan_.width, counts_.data(), room,
                       left_by_ranges);
            launch_for(
                blocked_rows<false>, blocked, 1,
                joined_lists{row_list{nullptr, 0}, left_by_ranges.rows, left_by_ranges.count},
                plan_.width, counts_.data(), nullptr, nullptr, room, left_by_blocks);
            lists_left = {row_list{nullptr, 0}, left_by_blocks.rows, left_by_blocks.count};
        }
        const launch_scope launch(*device_);
        const auto kernel = wide_rows<false>;
        const std::size_t shared = range_bytes(b_.columns);
        allow_shared(kernel, shared);
        kernel<<<launch.blocks(kernel, block_threads, all, shared), block_threads, shared,
                 launch.stream()>>>(a_, b_, lists_left, plan_.width, counts_.data(), nullptr,
                                    nullptr, counters.data() + 3);
        launch.check_launch();
        bytes_.drop(counters);
        bytes_.drop(overflow);
    }

    /// Makes room for the places of products, of rows that are not taken together.
    [[nodiscard]] symbolic_results make_places(const product_totals& totals) {
        symbolic_results to{counts_.data(), nullptr, nullptr};
        if (!rules_.limits.places) return to;
        plan_.places_at = bytes_.make<std::int64_t>(device_, a_.rows + 1);
        scan(*device_,
             place_offsets{rules_, a_.offsets, products_.data(), together_.data(), a_.rows,
                           plan_.places_at.data()},
             a_.rows, scratch_.data());
        auto placed = static_cast<std::int64_t>(totals.placed);
        if (together_.size() != 0)
            device_->download(&placed, plan_.places_at.data() + a_.rows, sizeof placed);
        plan_.places = bytes_.make<std::uint8_t>(device_, placed);
        to.places_at = plan_.places_at.data();
        to.places = plan_.places.data();
        return to;
    }

    /// Takes neighbouring rows together where that suits most of some that are tried, and returns
    /// the rows that are left.
    [[nodiscard]] joined_lists take_neighbours(const row_list& rows) {
        const joined_lists all{rows, nullptr, nullptr};
        if (!rules_.limits.places || rows.count < rules_.limits.sampled_rows) return all;
        if (std::max(a_.nonzeros, b_.nonzeros) >= neighbour_limits::all_entries) return all;
        constexpr std::int64_t of_group = neighbour_limits::rows;
        const std::int64_t groups = (rows.count + of_group - 1) / of_group;
        const std::int64_t stride = record_stride(rows, groups);
        if (stride == 0) return all;
        plan_.neighbours.rows = rows;
        plan_.neighbours.stride = stride;
        plan_.neighbours.records = bytes_.make<std::byte>(device_, groups * stride);
        together_ = bytes_.make<std::uint8_t>(device_, a_.rows);
        together_.zero();
        alone_ = bytes_.make<std::int32_t>(device_, rows.count);
        alone_count_ = bytes_.make<unsigned>(device_, 1);
        alone_count_.zero();
        launch_list(neighbouring_rows, rows, block_warps * of_group, std::int64_t{1},
                    static_cast<std::int32_t*>(nullptr), plan_.neighbours.array(), counts_.data(),
                    together_.data(), overflow_list{alone_.data(), alone_count_.data()});
        return {row_list{nullptr, 0}, alone_.data(), alone_count_.data()};
    }

    /// The bytes that suffice for the records of nearly all groups, by some of these; 0 where many
    /// of them find no room.
    [[nodiscard]] std::int64_t record_stride(const row_list& rows, std::int64_t groups) {
        constexpr std::int64_t tried = 512;
        const std::int64_t every = std::max<std::int64_t>(groups / tried, 1);
        buffer<std::int32_t> sizes =
            bytes_.make<std::int32_t>(device_, (groups + every - 1) / every);
        launch_list(neighbouring_rows, rows, block_warps * neighbour_limits::rows * every, every,
                    sizes.data(), record_array{nullptr, 0}, counts_.data(),
                    static_cast<std::uint8_t*>(nullptr), overflow_list{nullptr, nullptr});
        std::vector<std::int32_t> found = sizes.download();
        bytes_.drop(sizes);
        std::sort(found.begin(), found.end());
        const std::size_t fitting =
            static_cast<std::size_t>(found.end() - std::upper_bound(found.begin(), found.end(), 0));
        if (2 * fitting < found.size()) return 0;
        constexpr std::size_t larger = 50; // one of so many may be
        return found[found.size() - 1 - fitting / larger];
    }

    [[nodiscard]] column_pool pool() {
        return {plan_.kept_columns.data(), plan_.kept_columns.size(),
                zeroed(*device_, plan_.next.data()), plan_.kept_at.data()};
    }

    /// Makes room for the columns of wide rows, so that they need not be found again when C is
    /// made: for as many as some of these rows let expect.
    void make_pool(const row_list& wide, const overflow_list& overflow) {
        const std::int64_t least = rules_.limits.pooled_rows;
        if (wide.count < least) return;
        const std::int64_t every = wide.count / (least / 4);
        const std::int64_t looked_at = (wide.count + every - 1) / every;
        launch_for(blocked_rows<false>, looked_at, 1, joined_lists{wide, nullptr, nullptr, every},
                   plan_.width, counts_.data(), nullptr, nullptr,
                   column_pool{nullptr, 0, zeroed(*device_, plan_.next.data()), nullptr}, overflow);
        unsigned long long sum = 0;
        device_->download(&sum, plan_.next.data(), sizeof sum);
        device_->zero(overflow.count, sizeof *overflow.count);
        constexpr double spare = 1.25;
        const double expected = spare * static_cast<double>(sum) / static_cast<double>(looked_at) *
                                static_cast<double>(wide.count);
        plan_.kept_columns = bytes_.make<std::int32_t>(
            device_, std::min(static_cast<std::int64_t>(expected), most_pooled(a_, b_)));
        plan_.kept_at = bytes_.make<std::uint32_t>(device_, a_.rows);
        plan_.kept_at.zero();
    }

    void count_giants(const row_list& giants) {
        if (giants.count == 0) return;
        giant_row_bits bits(device_, b_.columns);
        bytes_.pass(bits.bytes());
        for (const std::int32_t row : rows_in(giants)) bits.count(a_, b_, row, counts_.data());
    }

    [[nodiscard]] std::vector<std::int32_t> rows_in(const row_list& list) const {
        std::vector<std::int32_t> rows(static_cast<std::size_t>(list.count));
        if (list.rows == nullptr)
            std::iota(rows.begin(), rows.end(), 0);
        else
            device_->download(rows.data(), list.rows, rows.size() * sizeof(std::int32_t));
        return rows;
    }

    /// Launches kernel(A, B, arguments) for so many rows, of which a block does `of_block` at a
    /// time.
    template <class Kernel, class... Arguments>
    void launch_list(Kernel kernel, const row_list& rows, std::int64_t of_block,
                     const Arguments&... arguments) {
        launch_for(kernel, rows.count, of_block, rows, arguments...);
    }
    template <class Kernel, class... Arguments>
    void launch_for(Kernel kernel, std::int64_t count, std::int64_t of_block,
                    const Arguments&... arguments) {
        if (count == 0) return;
        const launch_scope launch(*device_);
        kernel<<<launch.blocks(kernel, block_threads, (count + of_block - 1) / of_block),
                 block_threads, 0, launch.stream()>>>(a_, b_, arguments...);
        launch.check_launch();
    }

    void divide_results() {
        const sum_class_of class_of{rules_, a_.offsets, products_.data(), counts_.data(),
                                    together_.data()};
        result_totals found{};
        {
            buffer<result_totals> totals = bytes_.make<result_totals>(device_, 1);
            totals.zero();
            const launch_scope launch(*device_);
            const auto kernel = count_results;
            kernel<<<launch.blocks(kernel, block_threads,
                                   (a_.rows + block_threads - 1) / block_threads),
                     block_threads, 0, launch.stream()>>>(class_of, a_.rows, totals.data());
            launch.check_launch();
            device_->download(&found, totals.data(), sizeof found);
            bytes_.drop(totals);
        }
        plan_.nonzeros = static_cast<std::int64_t>(found.nonzeros);
        constexpr int classes = static_cast<int>(sum_class::none);
        std::int64_t listed = 0;
        for (int c = 0; c < classes; ++c)
            if (found.rows_of[c] != a_.rows) listed += found.rows_of[c];
        plan_.lists = bytes_.make<std::int32_t>(device_, listed);
        list_rows(class_of, std::span(found.rows_of).first(classes), plan_.lists.data(),
                  plan_.rows_of);
        for (int i = 0; i < 2; ++i) {
            const row_list rows = plan_.rows_of[static_cast<int>(sum_class::searched) + i];
            if (rows.count == 0) continue;
            plan_.searched[i].count = static_cast<std::int64_t>(found.chunks[i]);
            plan_.searched[i].at = bytes_.make<std::int64_t>(device_, rows.count + 1);
            scan(*device_,
                 chunk_offsets{counts_.data(), rows, rules_.limits.chunk,
                               plan_.searched[i].at.data()},
                 rows.count, scratch_.data());
        }
        plan_.giant_searched = rows_in(plan_.rows_of[static_cast<int>(sum_class::giant_searched)]);
        describe_sorted(plan_.rows_of[static_cast<int>(sum_class::giant_sorted)]);
    }

    void describe_sorted(const row_list& rows) {
        if (rows.count == 0) return;
        buffer<sorted_row> found = bytes_.make<sorted_row>(device_, rows.count);
        {
            const launch_scope launch(*device_);
            const auto kernel = describe_rows;
            kernel<<<launch.blocks(kernel, block_threads, rows.count), block_threads, 0,
                     launch.stream()>>>(rows, a_, b_.offsets, plan_.offsets.data(), found.data());
            launch.check_launch();
        }
        plan_.sorted = found.download();
        bytes_.drop(found);
    }

    const std::shared_ptr<device>& device_;
    csr_pattern a_;
    csr_pattern b_;
    class_rules rules_;
    byte_peak bytes_;
    spgemm_plan plan_;
    buffer<std::uint32_t> products_; // of each row, at most 2^32 - 1
    buffer<std::int32_t> counts_;    // nonzeros of C
    buffer<std::uint8_t> together_;  // rows that are taken with their neighbours; empty: none
    buffer<std::int32_t> alone_;     // hashed rows that are not, where some are
    buffer<unsigned> alone_count_;
    buffer<char> scratch_;
};

} // namespace

std::int64_t spgemm_plan::bytes() const noexcept {
    return static_cast<std::int64_t>(
               8 * (offsets.size() + places_at.size() + searched[0].at.size() +
                    searched[1].at.size() + next.size()) +
               4 * (lists.size() + kept_columns.size() + kept_at.size()) + places.size()) +
           neighbours.bytes();
}

spgemm_plan plan_spgemm(const std::shared_ptr<device>& device, const csr_pattern& a,
                        const csr_pattern& b, const row_limits& limits) {
    return symbolic_phase(device, a, b, limits).run();
}

} // namespace krylith::cuda
