#include <krylith/precond/approximate/inverse_work.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/precond/columns/columns_at_once.hpp>
#include <krylith/precond/matrix/matrix_on_devices.hpp>
#include <krylith/precond/matrix/same_entries.hpp>
#include <krylith/spmv/matrix_parts.hpp>

namespace krylith::detail {

namespace {

template <class T>
inverse_matrix<T> make_inverse(const distributed_csr<T>& a, const inverse_request& request) {
    if (request.power == 1) return {request.who, a, a, request.kind};
    return {request.who, a, squared_couplings(a, request.threshold), request.kind,
            request.threshold};
}

} // namespace

void inverse_request::check() const {
    const std::string options = std::string(who) + "_options::";
    if (power != 1 && power != 2)
        throw usage_error(options + "power is " + std::to_string(power) + "; allowed is 1 or 2");
    if (!(threshold >= 0 && threshold <= 1))
        throw usage_error(options + "threshold is " + number_text(threshold) +
                          "; allowed is 0 to 1");
}

std::string inverse_request::name() const {
    std::string text = std::string(who) + ":power=" + std::to_string(power);
    if (power != 1) text += ":threshold=" + number_text(threshold);
    return text;
}

template <class T>
distributed_csr<T> inverse_work<T>::taken(const matrix_ref<T>& matrix) const {
    return with_moderate_values(on_devices(request_.who, *layout_, matrix));
}

template <class T>
inverse_work<T>::inverse_work(const inverse_request& request, const matrix_operator<T>& of,
                              const matrix_ref<T>& matrix)
    : request_(request),
      layout_(square_layout(of.single().layouts(), request.who)),
      columns_(of.columns_at_once()) {
    request_.check();
    const distributed_csr<T> a = taken(matrix);
    pattern_ = pattern_of(a);
    inverse_.emplace(make_inverse(a, request_));
    inverse_->take(*layout_, a);
    const operator_options as = options_for(of);
    const layout_handle plain = without_order(layout_);
    const operator_layouts layouts{plain, plain};
    std::vector<std::unique_ptr<matrix_operator<T>>> operators;
    operators.push_back(make_operator(layouts, inverse_->matrix(), as));
    if (request_.kind == inverse_kind::factor) {
        transposition_ = distributed_transposition<T>(inverse_->matrix());
        transposed_ = transposition_->take(inverse_->matrix());
        operators.push_back(make_operator(layouts, transposed_, as));
    }
    for (auto& single : operators) single = in_columns_of(of, std::move(single));
    chain_.emplace(request_.who, of.layout(), std::move(operators));
}

template <class T>
bool inverse_work<T>::update(const matrix_ref<T>& matrix) {
    refuse_new_values(request_.who, columns_);
    const distributed_csr<T> a = taken(matrix);
    pattern_.expect(request_.who, pattern_of(a));
    const T before = factor();
    inverse_->take(*layout_, a);
    chain_->at(0).update_on_devices(inverse_->matrix().values());
    if (transposition_) {
        transposition_->apply(inverse_->matrix(), transposed_);
        chain_->at(1).update_on_devices(transposed_.values());
    }
    return factor() == before;
}

/// G'G has the square of the scale of G.
template <class T>
T inverse_work<T>::factor() const {
    const int squares = request_.kind == inverse_kind::factor ? 2 : 1;
    const int usual = (sizeof(T) == 8 ? 130 : 40) / squares;
    const int exponent = inverse_->exponent();
    return std::abs(exponent) <= usual ? T(1) : std::ldexp(T(1), -squares * exponent);
}

template <class T>
std::int64_t inverse_work<T>::bytes() const {
    std::int64_t most = 0;
    for (const int rank : layout_->comm.local()) {
        std::int64_t sum = chain_->bytes(rank) + inverse_->bytes(rank);
        if (transposition_) sum += transposed_.block(rank).bytes();
        most = std::max(most, sum);
    }
    return most + (transposition_ ? transposition_->bytes() : 0);
}

#define KRYLITH_INSTANTIATE(T) template class inverse_work<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
