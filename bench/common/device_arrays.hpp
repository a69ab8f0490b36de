// CSR arrays that lie on the devices already, as a simulation has them.
#pragma once

#include <span>
#include <vector>

#include <krylith/bench/common/workload.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/spmv/matrix_parts.hpp>

namespace krylith::bench {

/// The rows of each rank, on its device.
class device_arrays {
public:
    device_arrays(const device_group& group, const workload& w, const row_partition& rows);
    [[nodiscard]] std::span<const csr_part<double>> parts() const { return parts_; }

private:
    std::vector<buffer<std::int64_t>> offsets_;
    std::vector<buffer<std::int32_t>> columns_;
    std::vector<buffer<double>> values_;
    std::vector<csr_part<double>> parts_;
};

} // namespace krylith::bench
