#include <krylith/precond/incomplete/row_elimination.hpp>

#include <utility>

#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_team.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/sptrsv/level_stages.hpp>
#include <krylith/sparse/sptrsv/row_chains.hpp>
#include <krylith/sparse/sptrsv/team_barrier.hpp>
#include <krylith/sparse/sptrsv/triangle_source.hpp>

namespace krylith::incomplete::host {

namespace {

template <class T>
triangle_source<T> lower_triangle(const factor_rows<T>& a) {
    return {a.rows, a.offsets, a.columns, a.values, false, true};
}

/// Rows of a level from which threads share it: an elimination is some ten times a row's solve.
constexpr std::int64_t wide_level = 512;

constexpr const char* elimination_item = "elimination of rows";

/// Threads go through levels together, as triangular solves do; one thread takes rows in order.
template <class T>
class staged_elimination final : public row_elimination<T> {
public:
    staged_elimination(std::shared_ptr<device> device, const factor_rows<T>& a)
        : device_(std::move(device)) {
        if (host().threads() == 1 || a.rows == 0) return;
        device_->synchronize();
        const rows_by_chain sorted = sort_chains(lower_triangle(a));
        const level_stages stages = plan_stages(sorted, host().threads(), wide_level);
        if (stages.shared < a.rows / 2) return;
        parts_ = stages.parts;
        stages_ = static_cast<std::int64_t>(stages.borders.size() - 1) / parts_;
        order_ = {device_, std::span<const std::int32_t>(sorted.order), elimination_item};
        borders_ = {device_, std::span<const std::int64_t>(stages.borders), elimination_item};
        device_->synchronize();
    }

    void run(const factor_rows<T>& a) override {
        host().submit([a, order = order_.data(), borders = borders_.data(), stages = stages_,
                       parts = parts_, threads = host().threads()] {
            if (stages == 0) {
                for (std::int64_t row = 0; row < a.rows; ++row) eliminate_row(a, row, one_lane{});
                return;
            }
            team_barrier barrier;
            in_team(threads, [&](int thread, int team) {
                for (std::int64_t stage = 0; stage < stages; ++stage) {
                    for (std::int64_t part = stage * parts + thread; part < (stage + 1) * parts;
                         part += team)
                        for (std::int64_t i = borders[part]; i < borders[part + 1]; ++i)
                            eliminate_row(a, order[i], one_lane{});
                    barrier.wait(team);
                }
            });
        });
    }

    [[nodiscard]] std::int64_t bytes() const override {
        return static_cast<std::int64_t>(order_.size() * sizeof(std::int32_t) +
                                         borders_.size() * sizeof(std::int64_t));
    }

private:
    [[nodiscard]] host_device& host() const { return static_cast<host_device&>(*device_); }

    std::shared_ptr<device> device_;
    buffer<std::int32_t> order_;
    buffer<std::int64_t> borders_;
    std::int64_t stages_ = 0;
    int parts_ = 1;
};

} // namespace

template <class T>
std::unique_ptr<row_elimination<T>> make_elimination(const std::shared_ptr<device>& device,
                                                     const factor_rows<T>& a) {
    return std::make_unique<staged_elimination<T>>(device, a);
}

template <class T>
std::int64_t count_levels(const std::shared_ptr<device>& device, const factor_rows<T>& a) {
    device->synchronize();
    return a.rows == 0 ? 0 : sort_chains(lower_triangle(a)).depth;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::int64_t count_levels(const std::shared_ptr<device>&, const factor_rows<T>&);     \
    template std::unique_ptr<row_elimination<T>> make_elimination(                                 \
        const std::shared_ptr<device>& device, const factor_rows<T>& a);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::incomplete::host
