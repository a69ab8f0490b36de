// The product with blocks along the diagonal, as a block of an operator.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/precond/blocks/block_view.hpp>
#include <krylith/sparse/device_matrix.hpp>

namespace krylith::detail {

/// Blocks that lie elsewhere and outlive what is made of them.
template <class T>
struct borrowed_blocks {
    block_view<T> blocks;
    block_columns columns;
    bool has_ghosts = false; ///< rows of the first or the last block read them
    std::int64_t bytes = 0;  ///< that a product reads
};

/// Makes the block of a device, whose products read each number of the blocks once.
template <class T>
[[nodiscard]] std::unique_ptr<device_matrix<T>> make_block_product(std::shared_ptr<device> device,
                                                                   const borrowed_blocks<T>& a);

/// What is the same on hosts and GPUs: values come and go where the blocks lie.
template <class T>
class block_product : public device_matrix<T> {
public:
    block_product(std::shared_ptr<device> device, const borrowed_blocks<T>& a)
        : device_(std::move(device)), a_(a) {}
    void update(std::span<const T>) override { refuse(); }
    void update_on_device(const T*) override { refuse(); }
    void diagonal(T*, const row_map&, std::int64_t) const override { refuse(); }
    [[nodiscard]] std::string name() const override { return "blocks"; }
    [[nodiscard]] std::int64_t matrix_bytes() const override { return a_.bytes; }

protected:
    [[noreturn]] static void refuse();

    std::shared_ptr<device> device_;
    borrowed_blocks<T> a_;
};

} // namespace krylith::detail

namespace krylith::cuda {

template <class T>
[[nodiscard]] std::unique_ptr<device_matrix<T>>
make_block_product(std::shared_ptr<device> device, const detail::borrowed_blocks<T>& a);

} // namespace krylith::cuda
