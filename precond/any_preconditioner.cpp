#include <krylith/precond/any_preconditioner.hpp>

#include <krylith/device/error.hpp>

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
void any_preconditioner<T>::update(const csr_view<T>& matrix) {
    if (model_) model_->update(matrix);
}

template class any_preconditioner<double>;
template class any_preconditioner<float>;

} // namespace krylith
