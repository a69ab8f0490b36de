// The factors of one device's block, and their solves.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/precond/ilut.hpp>
#include <krylith/sparse/triangular_solver.hpp>

namespace krylith::detail {

template <class T>
class ilut_block {
public:
    /// Factors the block, whose values are finite; number_of(i) is the caller's number of its row
    /// i, for messages. Waits for the device. Throws input_error as ilut does.
    ilut_block(std::shared_ptr<device> device, const csr_view<T>& block,
               const std::function<std::int64_t(std::int64_t)>& number_of,
               const ilut_options& options);

    /// Enqueues z = U^-1 L^-1 P r; both are [rows] on the device, and not the same.
    void solve(const T* r, T* z);

    [[nodiscard]] std::int64_t bytes() const;
    [[nodiscard]] std::int64_t nonzeros() const;
    [[nodiscard]] std::int64_t replaced() const { return replaced_; }

private:
    std::shared_ptr<device> device_;
    buffer<std::int32_t> row_at_; ///< P; empty where rows stay
    device_csr<T> lower_;
    device_csr<T> upper_;
    std::optional<triangular_solver<T>> forward_;
    std::optional<triangular_solver<T>> backward_;
    std::int64_t replaced_ = 0;
};

} // namespace krylith::detail
