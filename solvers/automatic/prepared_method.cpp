// What attempts keep with the operator: the preconditioner, and the method that converged.
#include <krylith/solvers/automatic/attempts.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>

namespace krylith {

namespace {

/// The preconditioner that was made last, and what converged with it. It stays with the operator,
/// since the recordings that solvers keep there are of it.
template <class T>
struct kept_preconditioner {
    const preconditioner_method* row = nullptr;
    std::string_view parameters; ///< those of the planned method
    matrix_nodes nodes; ///< what it was told; of the vectors no more than where they lie is used
    any_preconditioner<T> m;
    std::shared_ptr<const operator_facts> facts; ///< those of the values that it was made of
    const solver_method* solver = nullptr;       ///< the one that converged; null: none yet
    side on_side = side::right;
    std::int64_t most_iterations = 0;
};

bool same_nodes(const matrix_nodes& a, const matrix_nodes& b) {
    return a.block_size == b.block_size && a.near_null.data() == b.near_null.data() &&
           a.near_null.size() == b.near_null.size();
}

method_parameters parameters_of(const planned_method& method) {
    const std::string name(method.preconditioner->name);
    if (method.parameters.empty())
        return method_parameters(method.preconditioner->parameters.get());
    return parse_preconditioner(name + ":" + std::string(method.parameters)).parameters;
}

} // namespace

template <class T>
any_preconditioner<T> attempts<T>::make(const planned_method& method) {
    const method_parameters parameters = parameters_of(method);
    if (lent_ == nullptr || !*lent_)
        return method.preconditioner->make_with<T>(a_, matrix_, parameters, nodes_);
    const matrix_ref<T> lent(**lent_);
    any_preconditioner<T> made = method.preconditioner->make_with<T>(a_, &lent, parameters, nodes_);
    lent_->reset(); // where another is made, it takes the matrix from where that is kept
    return made;
}

template <class T>
const any_preconditioner<T>& attempts<T>::preconditioner(const planned_method& method) {
    const preconditioner_method* const row = method.preconditioner;
    auto kept = std::static_pointer_cast<kept_preconditioner<T>>(a_.kept().preconditioner);
    if (!kept || kept->row != row || kept->parameters != method.parameters ||
        !same_nodes(kept->nodes, nodes_)) {
        a_.kept().preconditioner.reset(); // both need not fit beside each other
        kept = std::make_shared<kept_preconditioner<T>>();
        kept->row = row;
        kept->parameters = method.parameters;
        kept->nodes = nodes_;
        kept->m = make(method);
    } else if (kept->facts != a_.kept().facts) {
        a_.kept().preconditioner.reset(); // one whose update fails can't be used
        if (row->needs_matrix)
            kept->m.update(*matrix_);
        else
            kept->m.update(a_);
    }
    kept->facts = a_.kept().facts;
    a_.kept().preconditioner = kept;
    return kept->m;
}

template <class T>
void attempts<T>::remember(const planned_method& method, std::int64_t iterations) const {
    auto kept = std::static_pointer_cast<kept_preconditioner<T>>(a_.kept().preconditioner);
    if (!kept || kept->row != method.preconditioner || kept->parameters != method.parameters) {
        kept = std::make_shared<kept_preconditioner<T>>();
        a_.kept().preconditioner = kept;
    }
    kept->nodes = nodes_;
    kept->solver = method.solver;
    kept->on_side = method.on_side;
    kept->most_iterations = method.most_iterations;
    kept->m.solved(iterations);
}

template <class T>
std::vector<planned_method> attempts<T>::in_order(std::span<const planned_method> methods) const {
    std::vector<planned_method> order(methods.begin(), methods.end());
    const auto kept = std::static_pointer_cast<kept_preconditioner<T>>(a_.kept().preconditioner);
    if (!kept || kept->solver == nullptr || !same_nodes(kept->nodes, nodes_)) return order;
    const auto found = std::ranges::find_if(order, [&](const planned_method& m) {
        return m.solver == kept->solver && m.preconditioner == kept->row &&
               m.parameters == kept->parameters && m.on_side == kept->on_side &&
               m.most_iterations == kept->most_iterations;
    });
    if (found == order.end() || found == order.begin()) return order;
    planned_method first = *found; // which has its turn again, should it fail where this x begins
    first.because = "it solved the last system";
    order.insert(order.begin(), std::move(first));
    return order;
}

template <class T>
const any_preconditioner<T>* attempts<T>::prepared(const planned_method& method, bool last) {
    const auto refused = [&](const error& failure) {
        solve_attempt tried;
        tried.solver = method.solver->name;
        tried.preconditioner = method.preconditioner->name;
        tried.because = method.because;
        tried.refused = failure.what();
        tried.reason = reason::breakdown;
        tried.relative_residual = std::numeric_limits<double>::infinity();
        tried_.push_back(std::move(tried));
        return nullptr;
    };
    try {
        return &preconditioner(method);
    } catch (const input_error& failure) { // such as a coarse matrix that isn't definite
        if (last) throw;
        return refused(failure);
    } catch (const usage_error& failure) { // parameters that are not for this matrix
        if (last || method.parameters.empty()) throw;
        return refused(failure);
    } catch (const device_error& failure) { // too little memory for it; others take less
        if (last || method.preconditioner->pointwise) throw;
        return refused(failure);
    }
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template any_preconditioner<T> attempts<T>::make(const planned_method&);                       \
    template const any_preconditioner<T>& attempts<T>::preconditioner(const planned_method&);      \
    template void attempts<T>::remember(const planned_method&, std::int64_t) const;                \
    template std::vector<planned_method> attempts<T>::in_order(std::span<const planned_method>)    \
        const;                                                                                     \
    template const any_preconditioner<T>* attempts<T>::prepared(const planned_method&, bool);

#include <krylith/device/language/instantiate.inc>

} // namespace krylith
