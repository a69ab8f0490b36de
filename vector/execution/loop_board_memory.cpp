#include <krylith/vector/execution/loop_board_memory.hpp>

#include <utility>

#include <krylith/config.hpp>
#if KRYLITH_HAVE_CUDA
#include <krylith/device/cuda/cuda_runtime.hpp>
#endif

namespace krylith {

loop_board_memory::loop_board_memory(std::shared_ptr<device> device) : device_(std::move(device)) {
#if KRYLITH_HAVE_CUDA
    if (device_->kind() == backend::cuda) {
        board_ = static_cast<loop_board*>(cuda::allocate_post(*device_, sizeof(loop_board)));
        return;
    }
#endif
    board_ = new loop_board{};
}

loop_board_memory::~loop_board_memory() {
#if KRYLITH_HAVE_CUDA
    if (device_->kind() == backend::cuda) {
        cuda::free_post(*device_, board_);
        return;
    }
#endif
    delete board_;
}

loop_bell* loop_board_memory::bell() noexcept {
    return device_->kind() == backend::host ? &bell_ : nullptr;
}

} // namespace krylith
