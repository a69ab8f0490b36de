#include <krylith/precond/any_preconditioner.hpp>

#include <krylith/device/error.hpp>
#include <krylith/device/memory/unmoved.hpp>

namespace krylith {

namespace detail {

void refuse_split(const std::string& name) {
    throw usage_error("preconditioner " + name +
                      " can't be split, since it has no square root: use left or right");
}

void refuse_update(const std::string& name, const std::string& from) {
    throw usage_error("preconditioner " + name + " can't take new values of " + from +
                      ": make it anew");
}

namespace {

/// Throws in place of each function.
template <class T>
class moved_preconditioner final : public preconditioner_model<T> {
public:
    void apply(execution&, const vector<T>&, vector<T>&,
               std::span<const reduction_into<T>>) const override {
        refuse_moved_from();
    }
    [[nodiscard]] std::optional<term<T>> pointwise(const vector<T>&) const override {
        refuse_moved_from();
    }
    [[nodiscard]] bool recordable() const override { refuse_moved_from(); }
    [[nodiscard]] std::int64_t bytes() const override { refuse_moved_from(); }
    [[nodiscard]] std::string name() const override { refuse_moved_from(); }
    [[nodiscard]] const recording_identity* recording() const override { refuse_moved_from(); }
    [[nodiscard]] int kernels() const override { refuse_moved_from(); }
    [[nodiscard]] bool varies() const override { refuse_moved_from(); }
    [[nodiscard]] bool symmetric() const override { refuse_moved_from(); }
    [[nodiscard]] std::vector<multigrid_level_facts> levels() const override {
        refuse_moved_from();
    }
    [[nodiscard]] std::unique_ptr<preconditioner_model<T>> square_root() const override {
        refuse_moved_from();
    }
    void update(const matrix_operator<T>&) override { refuse_moved_from(); }
    void update(const matrix_ref<T>&) override { refuse_moved_from(); }
    void solved(std::int64_t) override { refuse_moved_from(); }
};

} // namespace

template <class T>
preconditioner_model<T>* moved_model() noexcept {
    static moved_preconditioner<T> one;
    return &one;
}

#define KRYLITH_INSTANTIATE(T) template preconditioner_model<T>* moved_model() noexcept;
#include <krylith/device/language/instantiate.inc>

} // namespace detail

template <class T>
void any_preconditioner<T>::apply(execution& run, const vector<T>& r, vector<T>& z,
                                  std::span<const reduction_into<T>> dots) const {
    if (model_)
        model_->apply(run, r, z, dots);
    else
        fused(run, z = r, dots);
}

template <class T>
std::optional<term<T>> any_preconditioner<T>::pointwise(const vector<T>& r) const {
    return model_ ? model_->pointwise(r) : term<T>{&r};
}

template <class T>
any_preconditioner<T> any_preconditioner<T>::square_root() const {
    return model_ ? any_preconditioner(model_->square_root()) : any_preconditioner();
}

template <class T>
void any_preconditioner<T>::update(const matrix_operator<T>& a) {
    if (model_) model_->update(a);
}

template <class T>
void any_preconditioner<T>::update(const matrix_ref<T>& matrix) {
    if (model_) model_->update(matrix);
}

#define KRYLITH_INSTANTIATE(T) template class any_preconditioner<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
