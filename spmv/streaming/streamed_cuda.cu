// Streamed products on CUDA devices. A device has four queues: its stream for kernels, one for
// copies from the host, one to the host, one to peers. Events order them; the host waits at the end
// only.
#include <utility>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/spmv/streaming/streamed_copies.hpp>
#include <krylith/spmv/streaming/streamed_kernels.hpp>
#include <krylith/spmv/streaming/streamed_range.hpp>
#include <krylith/spmv/streaming/streamed_terms.hpp>
#include <krylith/spmv/tuning/stream_interval.cuh>

namespace krylith::cuda {

namespace {

template <class T>
class cuda_side final : public streamed_device<T> {
public:
    explicit cuda_side(const streamed_place& place)
        : place_(place),
          device_(place.group.handle(place.rank)),
          conversion_(*device_),
          repeated_(*device_),
          part_(device_),
          in_(make_streamed_copies(place)),
          home_(make_streamed_copies(place)),
          peers_(device_->make_side_queue()) {}

    void reserve(const streamed_call<T>& call, int part) override {
        bool all_direct = true;
        for (int r = 0; r < place_.group.size(); ++r)
            all_direct = all_direct && place_.group.path(r, place_.rank) == peer_path::direct;
        const std::int64_t results = call.plan.results.owned(part).size();
        const std::int64_t from_peers = by_rows(call.a.form) ? streamed_terms<T>::most
                                        : all_direct         ? 0
                                                             : call.plan.parts() * results;
        part_.reserve(call.a, call.plan.nonzeros.ranges[as_size(part)], call.plan.ranges_of(part),
                      results, from_peers);
        conversion_.forget();
        this->done.clear();
        this->arrived.reset();
    }

    [[nodiscard]] const T* sums(int j) const override {
        return part_.sums.data() + part_.ranges[as_size(j)].first_row;
    }

    void repeat_kernels(int repetitions) override {
        repeated_.begin();
        for (int i = 0; i < repetitions; ++i) part_.multiply_all();
        repeated_.end();
        repetitions_ = repetitions;
    }
    [[nodiscard]] double repeated_seconds() override { return repeated_.seconds() / repetitions_; }
    [[nodiscard]] double conversion_seconds() override { return conversion_.seconds(); }

    void settle() noexcept override {
        in_->settle();
        home_->settle();
        try {
            peers_->record()->wait();
            device_->synchronize();
        } catch (...) { // NOLINT(bugprone-empty-catch): a failure is thrown already
        }
    }

    void send_x(std::span<const T> x, row_range range) override {
        part_.reserve_x(static_cast<std::int64_t>(x.size()));
        in_->send(part_.x.data() + range.begin, x.data() + range.begin,
                  as_size(range.size()) * sizeof(T));
        sent_ = range;
        x_there_ = {in_->record()};
    }

    void spread_x(streamed_devices<T> devices) override {
        if (!place_.spread || devices.size() == 1 || sent_.size() == 0) return;
        peers_->wait(*x_there_.front()); // its own: others are added behind
        for (const auto& any : devices) {
            auto& other = static_cast<cuda_side&>(*any);
            if (&other != this)
                peers_->copy(part_.x.data() + sent_.begin, *other.device_,
                             other.part_.x.data() + sent_.begin, as_size(sent_.size()) * sizeof(T));
        }
        const auto spread = peers_->record();
        for (const auto& any : devices)
            if (any.get() != this) static_cast<cuda_side&>(*any).x_there_.push_back(spread);
    }

    void send_matrix(const streamed_call<T>& call, int part) override {
        if (by_columns(part_.form)) send_x(call.x, part_.needed(call.a.columns));
        const auto first = as_size(part_.whole.start_idx);
        if (compressed(part_.form))
            in_->send(part_.offsets.data(), call.a.offsets.data() + part_.whole.start_major,
                      (as_size(part_.whole.majors()) + 1) * sizeof(std::int64_t));
        if (part_.form != streamed_form::csr)
            in_->send(part_.rows.data(), call.a.row_indices.data() + first,
                      as_size(part_.whole.entries()) * sizeof(std::int32_t));
        pattern_there_ = in_->record();
        const row_range results = call.plan.results.owned(part);
        if (call.beta != T(0))
            in_->send(part_.y.data(), call.y.data() + results.begin,
                      as_size(results.size()) * sizeof(T));
        batches_there_.clear();
        for (const auto& [begin, end] : part_.batches()) {
            const auto count = as_size(end - begin);
            if (part_.form != streamed_form::csc)
                in_->send(part_.columns.data() + begin,
                          call.a.column_indices.data() + first + begin,
                          count * sizeof(std::int32_t));
            in_->send(part_.values.data() + begin, call.a.values.data() + first + begin,
                      count * sizeof(T));
            batches_there_.push_back(in_->record());
        }
        this->arrived = batches_there_.back();
    }

    void compute(const streamed_call<T>& call, int part) override {
        device_->wait(*pattern_there_);
        if (compressed(part_.form)) part_.make_pointers();
        part_.make_ready(conversion_);
        for (const auto& x : x_there_) device_->wait(*x);
        const row_range results = call.plan.results.owned(part);
        home_->reserve_fetched(call.y.data() + results.begin, as_size(results.size()) * sizeof(T));
        stored_ = 0;
        const auto batches = part_.batches();
        for (std::size_t j = 0; j < batches.size(); ++j) {
            device_->wait(*batches_there_[j]);
            if (!by_rows(part_.form)) {
                part_.multiply_entries(batches[j].first, batches[j].second);
                continue;
            }
            part_.multiply_range(j);
            this->done.push_back(device_->record());
            // Where the rest of its last row is on this device too, a range is ready.
            const int there = part * call.plan.ranges + static_cast<int>(j);
            while (stored_ <= static_cast<int>(j) &&
                   call.plan.streamed.last_holder(part * call.plan.ranges + stored_) <= there)
                store_owned(call, part, {});
        }
        if (by_rows(part_.form)) return;
        part_.multiply_range(0);
        this->done.push_back(device_->record());
    }

    void merge(const streamed_call<T>& call, int part, streamed_devices<T> devices) override {
        if (by_rows(part_.form)) {
            while (stored_ < call.plan.ranges) store_owned(call, part, devices);
            return;
        }
        const row_range rows = call.plan.results.owned(part);
        if (rows.size() == 0) return;
        const auto terms = terms_of_range(call, place_, devices, part, part_.own_slots.data());
        store_range(*device_, terms, rows.size(), call.alpha, call.beta, part_.y.data());
        send_home(call, part, rows);
    }

    void finish(const streamed_call<T>&, int) override {
        home_->collect();
        device_->synchronize();
    }

private:
    /// The rows that the next range owns, in y and on their way home. Without devices all that they
    /// need is here.
    void store_owned(const streamed_call<T>& call, int part, streamed_devices<T> devices) {
        const int j = stored_++;
        const auto& range = part_.ranges[as_size(j)];
        const row_range rows = range.majors.owned();
        if (rows.size() == 0) return;
        const int q = part * call.plan.ranges + j;
        const auto terms =
            devices.empty() ? terms_here(call, part, q)
                            : terms_of_last_row(call, place_, devices, q, part_.own_slots.data());
        const std::int64_t first = call.plan.results.owned(part).begin;
        store_rows(*device_, sums(j) + (rows.begin - range.majors.start_major), terms, rows.size(),
                   call.alpha, call.beta, part_.y.data() + (rows.begin - first));
        send_home(call, part, rows);
    }

    /// terms_of_last_row where all are this device's.
    [[nodiscard]] streamed_terms<T> terms_here(const streamed_call<T>& call, int part,
                                               int q) const {
        streamed_terms<T> terms{};
        const int last = call.plan.streamed.last_holder(q);
        for (int k = q + 1; k <= last; ++k)
            if (call.plan.streamed.ranges[as_size(k)].entries() > 0)
                terms.of[terms.count++] = sums(k - part * call.plan.ranges);
        return terms;
    }

    void send_home(const streamed_call<T>& call, int part, row_range rows) {
        home_->wait(*device_->record());
        home_->fetch(call.y.data() + rows.begin,
                     part_.y.data() + (rows.begin - call.plan.results.owned(part).begin),
                     as_size(rows.size()) * sizeof(T));
    }

    streamed_place place_;
    std::shared_ptr<device> device_;
    stream_interval conversion_;
    stream_interval repeated_;
    int repetitions_ = 1;
    streamed_range<T> part_; // before the queues, which are emptied before it is freed
    std::unique_ptr<streamed_copies> in_;
    std::unique_ptr<streamed_copies> home_;
    std::unique_ptr<side_queue> peers_;
    std::shared_ptr<event> pattern_there_;
    std::vector<std::shared_ptr<event>> x_there_;       // what it sent, then what others did
    std::vector<std::shared_ptr<event>> batches_there_; // of entries
    row_range sent_;
    int stored_ = 0; // ranges whose rows are in y
};

} // namespace

template <class T>
std::unique_ptr<streamed_device<T>> make_streamed_device(const streamed_place& place) {
    return std::make_unique<cuda_side<T>>(place);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<streamed_device<T>> make_streamed_device(const streamed_place&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
