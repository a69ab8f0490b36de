#include <krylith/spmspv/adaptive_product.hpp>

#include <algorithm>

namespace krylith::spmspv {

kernel kernel_switch::decide(kernel predicted, double effective_ratio) {
    const bool first = !current_;
    if (!first && direction_of(predicted) != direction_of(*current_)) {
        const double more = std::max(effective_ratio, ratio_);
        const double less = std::min(effective_ratio, ratio_);
        const bool moved = more > less && more >= factor_ * less;
        if (!moved && before_ != direction_of(predicted)) {
            before_ = direction_of(predicted);
            return *current_;
        }
        ratio_ = effective_ratio;
    }
    if (first) ratio_ = effective_ratio;
    before_.reset();
    current_ = predicted;
    return predicted;
}

} // namespace krylith::spmspv
