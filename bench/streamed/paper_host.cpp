#include <utility>
#include <vector>

#include <krylith/bench/streamed/paper_device.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/spmv/streaming/streamed_sums_host.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

namespace {

class host_paper_device final : public paper_device {
public:
    explicit host_paper_device(std::shared_ptr<device> on) : device_(std::move(on)) {}

    void upload(const streamed_matrix<double>& a, const major_range& range,
                std::span<const std::int32_t>, std::span<const double> x) override {
        a_ = a;
        range_ = range;
        x_ = x;
        sums_.resize(as_size(by_rows(a.form) ? range.majors() : a.rows));
    }
    void multiply() override {
        on().submit([this] { add_up(); });
    }
    [[nodiscard]] std::span<const double> download() override {
        on().synchronize();
        return sums_;
    }
    void repeat_kernels(int repetitions) override {
        on().submit([this, repetitions] {
            const tool::stopwatch watch;
            for (int i = 0; i < repetitions; ++i) {
                add_up();
            }
            repeated_ = watch.seconds() / repetitions;
        });
    }
    [[nodiscard]] double repeated_seconds() override {
        on().synchronize();
        return repeated_;
    }
    [[nodiscard]] double conversion_seconds() override { return 0; }

private:
    [[nodiscard]] host_device& on() const { return static_cast<host_device&>(*device_); }

    /// In the device's thread.
    void add_up() {
        if (by_rows(a_.form)) {
            host::sum_rows(a_, range_, x_.data(), sums_.data(), on().threads());
        } else {
            host::sum_entries(a_, range_, x_.data(), sums_.data());
        }
    }

    std::shared_ptr<device> device_;
    streamed_matrix<double> a_;
    major_range range_;
    std::span<const double> x_;
    std::vector<double> sums_;
    double repeated_ = 0;
};

} // namespace

std::unique_ptr<paper_device> make_host_paper_device(std::shared_ptr<device> on) {
    return std::make_unique<host_paper_device>(std::move(on));
}

} // namespace krylith::bench
