// A sparse vector that can be given the same content again and again, in one form, on the device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/bench/spmspv/spmspv_measure.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/spmspv/sparse_vector.hpp>

namespace krylith::bench {

template <class T>
class given_vector {
public:
    given_vector(const std::shared_ptr<device>& device, std::int64_t size, T absent,
                 std::span<const std::int32_t> indices, std::span<const T> values, bool ascending)
        : device_(device),
          x_(device, size, absent, "benchmark"),
          ascending_(ascending),
          entries_(static_cast<std::int64_t>(indices.size())),
          indices_(device, indices, "benchmark"),
          values_(device, values, "benchmark"),
          count_(device, std::vector{static_cast<std::int32_t>(indices.size())}, "benchmark"),
          dense_(device, static_cast<std::size_t>(size), "benchmark"),
          bits_(device, static_cast<std::size_t>((size + 31) / 32), "benchmark") {
        x_.assign(indices, values);
        x_.require(spmspv::vector_form::dense);
        x_.require(spmspv::vector_form::bits);
        const auto made = x_.arrays();
        copy(dense_.data(), made.dense, dense_.size());
        copy(bits_.data(), made.bits, bits_.size());
    }

    /// Enqueues copies that leave x this form alone (bits: dense and bits).
    void give(given_form form) {
        if (form == given_form::pairs) {
            const auto a = x_.overwrite_pairs();
            copy(a.indices, indices_.data(), indices_.size());
            copy(a.values, values_.data(), values_.size());
            copy(a.count, count_.data(), 1);
            x_.holds(spmspv::vector_form::pairs, ascending_, entries_);
            return;
        }
        const auto a = x_.overwrite();
        copy(a.dense, dense_.data(), dense_.size());
        if (form == given_form::dense) {
            x_.holds(spmspv::vector_form::dense, true, entries_);
            return;
        }
        copy(a.bits, bits_.data(), bits_.size());
        x_.holds(spmspv::vector_form::dense | spmspv::vector_form::bits, true, entries_);
    }

    [[nodiscard]] spmspv::sparse_vector<T>& vector() { return x_; }
    [[nodiscard]] std::int64_t entries() const { return entries_; }

private:
    template <class U>
    void copy(U* to, const U* from, std::size_t count) {
        if (count != 0) {
            device_->copy(to, from, count * sizeof(U));
        }
    }

    std::shared_ptr<device> device_;
    spmspv::sparse_vector<T> x_;
    bool ascending_;
    std::int64_t entries_;
    buffer<std::int32_t> indices_;
    buffer<T> values_;
    buffer<std::int32_t> count_;
    buffer<T> dense_;
    buffer<std::uint32_t> bits_;
};

} // namespace krylith::bench
