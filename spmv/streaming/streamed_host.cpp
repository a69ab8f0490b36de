// One-shot products on host devices: nothing is copied, since memory is shared.
#include <chrono>

#include <krylith/device/host/host_device.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/spmv/streaming/streamed_sums_host.hpp>
#include <krylith/spmv/streaming/streamed_terms.hpp>

namespace krylith::host {

namespace {

using clock = std::chrono::steady_clock;

template <class T>
class lane final : public one_shot_lane<T> {
public:
    explicit lane(const one_shot_place& place) : place_(place) {}

    void reserve(const one_shot_call<T>& call, int part) override {
        const one_shot_plan& plan = call.plan;
        std::int64_t all = 0;
        first_.assign(as_size(plan.pieces), 0);
        for (int j = 0; j < plan.pieces; ++j) {
            first_[as_size(j)] = all;
            all += by_rows(plan.form) ? piece(plan, part, j).lines() : call.a.rows;
        }
        const auto range = as_size(plan.results_of(part).size());
        const std::size_t inbox = by_rows(plan.form) ? one_shot_terms<T>::most
                                  : all_direct()     ? 0
                                                     : as_size(plan.parts()) * range;
        grow(sums_, as_size(all));
        grow(inbox_, inbox);
    }

    [[nodiscard]] const T* sums(int j) const override { return sums_.data() + first_[as_size(j)]; }

    void upload(const one_shot_call<T>&, int, std::span<const std::int32_t>) override {}

    void multiply(const one_shot_call<T>& call, int part) override {
        last_part_ = part;
        last_ = call;
        this->done.clear();
        for (int j = 0; j < call.plan.pieces; ++j) {
            device().submit([this, j] { multiply_piece(j); });
            this->done.push_back(device().record());
        }
    }

    [[nodiscard]] std::span<const T> download(const one_shot_call<T>& call, int part,
                                              std::vector<T>&) override {
        device().synchronize();
        const auto rows = by_rows(call.a.form) ? call.plan.share(part).lines() : call.a.rows;
        return {sums(0), as_size(rows)};
    }

    void send_x(std::span<const T>, row_range) override {}
    void spread_x(one_shot_lanes<T>) override {}
    void send_matrix(const one_shot_call<T>&, int) override {}
    void compute(const one_shot_call<T>& call, int part) override { multiply(call, part); }

    void merge(const one_shot_call<T>& call, int part, one_shot_lanes<T> lanes) override {
        if (!by_rows(call.a.form)) {
            const row_range range = call.plan.results_of(part);
            const auto terms = terms_of_range(call, place_, lanes, part, inbox_.data());
            device().submit([&call, range, terms] {
                for (std::int64_t i = 0; i < range.size(); ++i) {
                    T sum = terms.of[0][i];
                    for (int k = 1; k < terms.count; ++k) sum += terms.of[k][i];
                    store(call, range.begin + i, sum);
                }
            });
            return;
        }
        for (int j = 0; j < call.plan.pieces; ++j) {
            const int q = part * call.plan.pieces + j;
            const auto terms = terms_of_last_row(call, place_, lanes, q, inbox_.data());
            const line_share share = piece(call.plan, part, j);
            device().submit([&call, share, terms, mine = sums(j)] {
                const row_range rows = share.owned();
                for (std::int64_t i = rows.begin; i < rows.end; ++i) {
                    T sum = mine[i - share.start_line];
                    for (int k = 0; k < terms.count && i + 1 == rows.end; ++k) sum += *terms.of[k];
                    store(call, i, sum);
                }
            });
        }
    }

    void finish(const one_shot_call<T>&, int) override { device().synchronize(); }

    void repeat_kernels(int repetitions) override {
        device().submit([this, repetitions] {
            const auto start = clock::now();
            for (int i = 0; i < repetitions; ++i)
                for (int j = 0; j < last_.plan.pieces; ++j) multiply_piece(j);
            repeated_ = std::chrono::duration<double>(clock::now() - start).count() / repetitions;
        });
    }
    [[nodiscard]] double repeated_seconds() override {
        device().synchronize();
        return repeated_;
    }
    [[nodiscard]] double conversion_seconds() override { return 0; }

    void settle() noexcept override {
        try {
            device().synchronize();
        } catch (...) { // NOLINT(bugprone-empty-catch): a failure is thrown already
        }
    }

private:
    static void store(const one_shot_call<T>& call, std::int64_t row, T sum) {
        T& to = call.y[as_size(row)];
        to = call.beta == T{0} ? call.alpha * sum : call.alpha * sum + call.beta * to;
    }

    [[nodiscard]] static line_share piece(const one_shot_plan& plan, int part, int j) {
        return plan.shares[as_size(part) * as_size(plan.pieces) + as_size(j)];
    }

    /// In the device's thread.
    void multiply_piece(int j) {
        const line_share share = piece(last_.plan, last_part_, j);
        T* const to = sums_.data() + first_[as_size(j)];
        if (by_rows(last_.a.form))
            sum_rows(last_.a, share, last_.x.data(), to, device().threads());
        else
            sum_entries(last_.a, share, last_.x.data(), to);
    }

    [[nodiscard]] host_device& device() const {
        return static_cast<host_device&>(place_.group[place_.rank]);
    }
    [[nodiscard]] bool all_direct() const {
        for (int r = 0; r < place_.group.size(); ++r)
            if (place_.group.path(r, place_.rank) != transport::direct) return false;
        return true;
    }
    void grow(buffer<T>& b, std::size_t size) const {
        if (b.size() < size) {
            b = {};
            b = buffer<T>(place_.group.share(place_.rank), size, "one-shot product");
        }
    }

    one_shot_place place_;
    buffer<T> sums_;
    std::vector<std::int64_t> first_; // [pieces] into sums_
    buffer<T> inbox_;
    one_shot_call<T> last_;
    int last_part_ = 0;
    double repeated_ = 0;
};

} // namespace

template <class T>
std::unique_ptr<one_shot_lane<T>> make_one_shot_lane(const one_shot_place& place) {
    return std::make_unique<lane<T>>(place);
}

template std::unique_ptr<one_shot_lane<double>> make_one_shot_lane(const one_shot_place&);
template std::unique_ptr<one_shot_lane<float>> make_one_shot_lane(const one_shot_place&);

} // namespace krylith::host
