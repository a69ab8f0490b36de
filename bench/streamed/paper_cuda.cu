#include <utility>
#include <vector>

#include <krylith/bench/streamed/paper_device.hpp>
#include <krylith/spmv/streaming/streamed_range.hpp>
#include <krylith/spmv/tuning/stream_interval.cuh>

namespace krylith::bench {

namespace {

class cuda_paper_device final : public paper_device {
public:
    explicit cuda_paper_device(const std::shared_ptr<device>& on)
        : device_(on), conversion_(*on), repeated_(*on), part_(on) {}

    void upload(const streamed_matrix<double>& a, const major_range& range,
                std::span<const std::int32_t> pointers, std::span<const double> x) override {
        part_.reserve(a, range, std::span(&range, 1), 0, 0);
        part_.reserve_x(a.columns);
        conversion_.forget();
        const auto send = [&](auto* to, auto from) {
            if (!from.empty()) device_->upload(to, from.data(), from.size_bytes());
        };
        const auto entries = [&](auto from) {
            return from.subspan(as_size(range.start_idx), as_size(range.entries()));
        };
        const row_range needed = part_.needed(a.columns);
        send(part_.x.data() + needed.begin,
             x.subspan(as_size(needed.begin), as_size(needed.size())));
        send(a.form == streamed_form::csc ? part_.column_pointers.data() : part_.pointers.data(),
             pointers);
        if (a.form != streamed_form::csr) send(part_.rows.data(), entries(a.row_indices));
        if (a.form != streamed_form::csc) send(part_.columns.data(), entries(a.column_indices));
        send(part_.values.data(), entries(a.values));
    }
    void multiply() override {
        part_.make_ready(conversion_);
        part_.multiply_all();
    }
    [[nodiscard]] std::span<const double> download() override {
        sums_.resize(as_size(part_.ranges.front().rows));
        if (!sums_.empty())
            device_->download(sums_.data(), part_.sums.data(), sums_.size() * sizeof(double));
        return sums_;
    }
    void repeat_kernels(int repetitions) override {
        repeated_.begin();
        for (int i = 0; i < repetitions; ++i) part_.multiply_all();
        repeated_.end();
        repetitions_ = repetitions;
    }
    [[nodiscard]] double repeated_seconds() override { return repeated_.seconds() / repetitions_; }
    [[nodiscard]] double conversion_seconds() override { return conversion_.seconds(); }

private:
    std::shared_ptr<device> device_;
    cuda::stream_interval conversion_;
    cuda::stream_interval repeated_;
    int repetitions_ = 1;
    cuda::streamed_range<double> part_;
    std::vector<double> sums_;
};

} // namespace

std::unique_ptr<paper_device> make_cuda_paper_device(std::shared_ptr<device> on) {
    return std::make_unique<cuda_paper_device>(on);
}

} // namespace krylith::bench
