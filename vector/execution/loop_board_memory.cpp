#include <krylith/vector/execution/loop_board_memory.hpp>

#include <new>
#include <utility>

#include <krylith/config.hpp>
#if KRYLITH_HAVE_CUDA
#include <krylith/device/cuda/cuda_runtime.hpp>
#endif

namespace krylith {

namespace {

constexpr const char* board_item = "loop board";

} // namespace

loop_board_memory::loop_board_memory(std::shared_ptr<device> device) : device_(std::move(device)) {
#if KRYLITH_HAVE_CUDA
    if (device_->kind() == backend::cuda) {
        board_ = static_cast<loop_board*>(cuda::allocate_post(*device_, sizeof(loop_board)));
        return;
    }
#endif
    // Drivers of other processes write here, too.
    board_ = new (device_->allocate(sizeof(loop_board), board_item)) loop_board{};
}

loop_board_memory::~loop_board_memory() {
#if KRYLITH_HAVE_CUDA
    if (device_->kind() == backend::cuda) {
        cuda::free_post(*device_, board_);
        return;
    }
#endif
    device_->deallocate(board_, sizeof(loop_board), board_item);
}

loop_bell* loop_board_memory::bell() noexcept {
    return device_->kind() == backend::host ? &bell_ : nullptr;
}

} // namespace krylith
