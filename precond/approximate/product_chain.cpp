#include <krylith/precond/approximate/product_chain.hpp>

#include <optional>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/precond/matrix/memory_item.hpp>
#include <krylith/precond/matrix/same_entries.hpp>
#include <krylith/precond/preconditioner.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith::detail {

namespace {

/// The same on all drivers.
template <class T>
bool has_ghosts(const matrix_operator<T>& a, const layout& layout) {
    return layout.kind != coherence::replicated && a.sends() != nullptr;
}

} // namespace

template <class T>
product_chain<T>::product_chain(std::string name, layout_handle layout,
                                std::vector<std::unique_ptr<matrix_operator<T>>> operators)
    : name_(std::move(name)), layout_(std::move(layout)), operators_(std::move(operators)) {
    if (has_ghosts(*operators_.front(), *layout_)) {
        copy_.emplace(operators_.front()->make_domain_vector(precond_item));
        copy_->promise_single_reader();
    }
    for (std::size_t i = 1; i < operators_.size(); ++i) {
        between_.push_back(operators_[i]->make_domain_vector(precond_item));
        between_.back().promise_single_reader();
    }
}

template <class T>
void product_chain<T>::apply(execution& run, T factor, const vector<T>& r, vector<T>& z,
                             std::span<const reduction_into<T>> dots) {
    if (r.layout() != layout_ || z.layout() != layout_)
        throw usage_error("preconditioner " + name_ + " was made for vectors of another operator");
    const layout_handle& plain = operators_.front()->layout();
    const bool on_the_way = plain == layout_ && dots.size() <= max_spmv_dots;
    const auto now = on_the_way ? dots : std::span<const reduction_into<T>>{};
    std::optional<vector<T>> other; // z in the order in which rows lie
    if (plain != layout_) other.emplace(same_entries(plain, z));
    const auto multiply = [&](std::size_t i, const vector<T>& x) {
        const bool last = i + 1 == operators_.size();
        vector<T>& y = !last ? between_[i] : other ? *other : z;
        operators_[i]->apply(run, last ? factor : T(1), x, T(0), y,
                             last ? now : std::span<const reduction_into<T>>{});
        if (!last) put_ghosts(run, y);
    };
    const vector<T> from = same_entries(plain, r);
    if (copy_) {
        fused(run, *copy_ = from);
        multiply(0, *copy_);
    } else {
        multiply(0, from);
    }
    for (std::size_t i = 1; i < operators_.size(); ++i) multiply(i, between_[i - 1]);
    finish_apply(run, z, on_the_way ? std::span<const reduction_into<T>>{} : dots);
}

template <class T>
bool product_chain<T>::recordable() const {
    for (const auto& a : operators_)
        if (!a->recordable()) return false;
    return true;
}

template <class T>
std::int64_t product_chain<T>::vector_bytes(int rank) const {
    const bool replicated = layout_->kind == coherence::replicated;
    std::int64_t entries = 0;
    if (copy_) entries += layout_->held(rank) + operators_.front()->received(rank);
    for (std::size_t i = 1; i < operators_.size(); ++i)
        entries += layout_->held(rank) + (replicated ? 0 : operators_[i]->received(rank));
    return entries * static_cast<std::int64_t>(sizeof(T));
}

template <class T>
std::int64_t product_chain<T>::bytes(int rank) const {
    std::int64_t sum = vector_bytes(rank);
    for (const auto& a : operators_) sum += a->matrix_bytes(rank);
    return sum;
}

#define KRYLITH_INSTANTIATE(T) template class product_chain<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
