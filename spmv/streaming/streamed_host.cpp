// Streamed products on host devices: nothing is copied, since memory is shared.
#include <chrono>

#include <krylith/device/host/host_device.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/spmv/streaming/streamed_sums_host.hpp>
#include <krylith/spmv/streaming/streamed_terms.hpp>

namespace krylith::host {

namespace {

using clock = std::chrono::steady_clock;

template <class T>
class host_side final : public streamed_device<T> {
public:
    explicit host_side(const streamed_place& place) : place_(place) {}

    void reserve(const streamed_call<T>& call, int part) override {
        const streamed_plan& plan = call.plan;
        std::int64_t all = 0;
        first_.assign(as_size(plan.ranges), 0);
        for (int j = 0; j < plan.ranges; ++j) {
            first_[as_size(j)] = all;
            all += by_rows(plan.form) ? plan.ranges_of(part)[as_size(j)].majors() : call.a.rows;
        }
        const auto range = as_size(plan.results.owned(part).size());
        const std::size_t own_slots = by_rows(plan.form) ? streamed_terms<T>::most
                                      : all_direct()     ? 0
                                                         : as_size(plan.parts()) * range;
        grow(sums_, as_size(all));
        grow(slots_, own_slots);
    }

    [[nodiscard]] const T* sums(int j) const override { return sums_.data() + first_[as_size(j)]; }

    void send_x(std::span<const T>, row_range) override {}
    void spread_x(streamed_devices<T>) override {}
    void send_matrix(const streamed_call<T>&, int) override {}

    void compute(const streamed_call<T>& call, int part) override {
        last_part_ = part;
        last_ = call;
        this->done.clear();
        for (int j = 0; j < call.plan.ranges; ++j) {
            on().submit([this, j] { multiply_range(j); });
            this->done.push_back(on().record());
        }
    }

    void merge(const streamed_call<T>& call, int part, streamed_devices<T> devices) override {
        if (!by_rows(call.a.form)) {
            const row_range range = call.plan.results.owned(part);
            const auto terms = terms_of_range(call, place_, devices, part, slots_.data());
            on().submit([&call, range, terms] {
                for (std::int64_t i = 0; i < range.size(); ++i) {
                    T sum = terms.of[0][i];
                    for (int k = 1; k < terms.count; ++k) sum += terms.of[k][i];
                    store(call, range.begin + i, sum);
                }
            });
            return;
        }
        for (int j = 0; j < call.plan.ranges; ++j) {
            const int q = part * call.plan.ranges + j;
            const auto terms = terms_of_last_row(call, place_, devices, q, slots_.data());
            const major_range range = call.plan.ranges_of(part)[as_size(j)];
            on().submit([&call, range, terms, mine = sums(j)] {
                const row_range rows = range.owned();
                for (std::int64_t i = rows.begin; i < rows.end; ++i) {
                    T sum = mine[i - range.start_major];
                    for (int k = 0; k < terms.count && i + 1 == rows.end; ++k) sum += *terms.of[k];
                    store(call, i, sum);
                }
            });
        }
    }

    void finish(const streamed_call<T>&, int) override { on().synchronize(); }

    void repeat_kernels(int repetitions) override {
        on().submit([this, repetitions] {
            const auto start = clock::now();
            for (int i = 0; i < repetitions; ++i)
                for (int j = 0; j < last_.plan.ranges; ++j) multiply_range(j);
            repeated_ = std::chrono::duration<double>(clock::now() - start).count() / repetitions;
        });
    }
    [[nodiscard]] double repeated_seconds() override {
        on().synchronize();
        return repeated_;
    }
    [[nodiscard]] double conversion_seconds() override { return 0; }

    void settle() noexcept override {
        try {
            on().synchronize();
        } catch (...) { // NOLINT(bugprone-empty-catch): a failure is thrown already
        }
    }

private:
    static void store(const streamed_call<T>& call, std::int64_t row, T sum) {
        T& to = call.y[as_size(row)];
        to = call.beta == T{0} ? call.alpha * sum : call.alpha * sum + call.beta * to;
    }

    /// Runs in the device's thread.
    void multiply_range(int j) {
        const major_range range = last_.plan.ranges_of(last_part_)[as_size(j)];
        T* const to = sums_.data() + first_[as_size(j)];
        if (by_rows(last_.a.form))
            sum_rows(last_.a, range, last_.x.data(), to, on().threads());
        else
            sum_entries(last_.a, range, last_.x.data(), to);
    }

    [[nodiscard]] host_device& on() const {
        return static_cast<host_device&>(place_.group[place_.rank]);
    }
    [[nodiscard]] bool all_direct() const {
        for (int r = 0; r < place_.group.size(); ++r)
            if (place_.group.path(r, place_.rank) != peer_path::direct) return false;
        return true;
    }
    void grow(buffer<T>& b, std::size_t size) const {
        if (b.size() < size) {
            b = {};
            b = buffer<T>(place_.group.handle(place_.rank), size, "streamed product");
        }
    }

    streamed_place place_;
    buffer<T> sums_;
    std::vector<std::int64_t> first_; // [ranges] into sums_
    buffer<T> slots_;
    streamed_call<T> last_;
    int last_part_ = 0;
    double repeated_ = 0;
};

} // namespace

template <class T>
std::unique_ptr<streamed_device<T>> make_streamed_device(const streamed_place& place) {
    return std::make_unique<host_side<T>>(place);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<streamed_device<T>> make_streamed_device(const streamed_place&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
