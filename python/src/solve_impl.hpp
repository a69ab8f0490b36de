// How a kept_operator solves, and with which preconditioners: definitions for the two files that
// instantiate it.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <krylith/precond/own_preconditioner.hpp>
#include <krylith/solvers/automatic.hpp>
#include <krylith/solvers/solver_table.hpp>

#include "interpreter_lock.hpp"
#include "operator_impl.hpp"

namespace krylith::python {

template <class T>
void kept_operator<T>::prepare_transpose() {
    if (a_->has_transposed()) return;
    if (!matrix_) throw usage_error("least squares need the matrix in host memory");
    options_.transposed_products = true;
    operator_options given = options_;
    given.order = orders::none; // that of the layouts stays
    auto with = make_operator(a_->layouts(), matrix_->view(), given);
    a_->release_workspace();
    m_.reset();
    if (gave_m_) replaced_ = std::move(a_);
    a_ = std::move(with);
}

template <class T>
auto kept_operator<T>::make(std::string text, int block_size, std::vector<double> near_null)
    -> preconditioner_pointer {
    auto result = std::make_shared<named_preconditioner<T>>();
    result->text = std::move(text);
    result->block_size = block_size;
    result->near_null = std::move(near_null);
    drive(*group_, [&] {
        const auto matrix = entries();
        result->make(*a_, matrix ? &*matrix : nullptr);
    });
    result->values = values_;
    result->made_by = this;
    gave_m_ = true;
    return result;
}

template <class T>
auto kept_operator<T>::make_of_levels(std::span<const multigrid_level_matrices<T>> levels,
                                      const std::string& options) -> preconditioner_pointer {
    const driving devices(*group_);
    auto result = std::make_shared<named_preconditioner<T>>();
    result->m = amg<T>(*a_, levels, amg_options_of(options));
    result->values = values_;
    result->made_by = this;
    gave_m_ = true;
    return result;
}

template <class T>
named_preconditioner<T>& kept_operator<T>::by_name(const std::string& text) {
    if (!m_ || m_->text != text) {
        m_.reset(); // its memory is needed
        named_preconditioner<T> made;
        made.text = text;
        made.block_size = options_.block_size;
        const auto matrix = entries();
        made.make(*a_, matrix ? &*matrix : nullptr);
        made.values = values_;
        made.made_by = this;
        m_ = std::move(made);
    }
    return *m_;
}

template <class T>
void kept_operator<T>::follow_values(named_preconditioner<T>& m) const {
    const auto matrix = entries();
    m.refresh(*a_, matrix ? &*matrix : nullptr, values_);
}

template <class T>
void kept_operator<T>::refresh(named_preconditioner<T>& m) {
    drive(*group_, [&] { follow_values(m); });
}

template <class T>
void kept_operator<T>::precondition(named_preconditioner<T>& m, const host_array<const T>& r,
                                    const host_array<T>& z) {
    check_length<T>("r", r.size(), local_shape().first);
    check_length<T>("z", z.size(), local_shape().first);
    drive(*group_, [&] {
        follow_values(m);
        execution run(group_->comm, {});
        vector<T> from = a_->make_range_vector();
        vector<T> to = a_->make_domain_vector();
        upload_own(from, as_span(r));
        m.m.apply(run, from, to);
        download_own(to, as_span(z));
        group_->comm.synchronize_all();
    });
}

template <class T>
preconditioner_function<T> kept_operator<T>::calls(nb::handle function) {
    return [this, function](const preconditioner_call<T>& call) {
        const bool well = failure_.run([&] {
            const std::size_t size = as_size(call.rows.size());
            const nb::object z = function(copied(std::vector<T>(call.r, call.r + size)));
            const auto values = nb::cast<host_array<const T>>(z);
            check_length<T>("the result of M", values.size(), call.rows.size());
            std::copy_n(values.data(), size, call.z);
        });
        if (!well) throw usage_error("M raised an exception");
    };
}

template <class T>
outcome kept_operator<T>::run(const vector<T>& b, vector<T>& x, solve_call& call) {
    const solver_method& method = find_solver(call.solver);
    const bool automatic = call.solver == "auto";
    if (method.least_squares || (automatic && a_->rows() != a_->columns())) prepare_transpose();

    any_preconditioner<T> none;
    std::optional<own_preconditioner<T>> own;
    named_preconditioner<T>* named = nullptr;
    bool chosen = false; // with the method
    std::string text;
    nb::handle function;
    {
        const with_lock locked;
        preconditioner_pointer held;
        if (nb::isinstance<nb::str>(call.m))
            text = nb::cast<std::string>(call.m);
        else if (nb::try_cast(call.m, held) && held)
            named = held.get(); // call.m keeps it
        else if (!call.m.is_none())
            function = call.m;
    }
    if (text == "auto")
        chosen = automatic;
    else if (!text.empty() && text != "none")
        named = &by_name(text);
    else if (function.is_valid())
        own.emplace(make_preconditioner<T>(*a_, calls(function),
                                           {.kind = group_->comm.has_one_driver()
                                                        ? preconditioner_kind::whole_on_host
                                                        : preconditioner_kind::local_on_host,
                                            .name = "a Python function",
                                            .varies = method.takes_varying}));
    if (named != nullptr && named->made_by == this) follow_values(*named);

    const auto matrix = entries();
    outcome out;
    out.solver = std::string(static_cast<std::string_view>(method.name));
    if (chosen)
        out.result = matrix ? krylith::solve(*a_, *matrix, b, x, call.options,
                                             {.block_size = options_.block_size})
                            : krylith::solve(*a_, b, x, call.options);
    else if (own)
        out.result = method.template solve<T>(*a_, b, x, call.options, std::cref(*own));
    else
        out.result =
            method.template solve<T>(*a_, b, x, call.options, named != nullptr ? named->m : none);
    if (named != nullptr && out.result.converged()) named->m.solved(out.result.iterations);
    if (const solve_attempt* best = out.result.best_attempt()) {
        out.solver = best->solver;
        out.preconditioner = best->preconditioner;
    } else {
        out.preconditioner = own ? own->name() : named != nullptr ? named->m.name() : "none";
    }
    return out;
}

/// Returns what a callback gets of x.
template <class T>
nb::object iterate(const vector<T>& x) {
    std::vector<T> values(as_size(own_rows(*x.layout()).size()));
    download_own(x, std::span<T>(values));
    return copied(std::move(values));
}

template <class T>
outcome kept_operator<T>::solve(const host_array<const T>& b, const host_array<T>& x,
                                solve_call call) {
    check_length<T>("b", b.size(), local_shape().first);
    check_length<T>("x", x.size(), local_shape().second);
    solve_watch watch(call.callback, call.callback_type, call.signals);
    outcome out;
    drive_calls([&] {
        // The solvers only read b.
        const std::span<T> mutable_b(const_cast<T*>(b.data()), b.size());
        placed at_b = place(a_->range_layout(), mutable_b, b_);
        placed at_x = place(a_->domain_layout(), as_span(x), x_);
        vector<T>& vb = at_b.borrowed ? *at_b.borrowed : *at_b.v;
        vector<T>& vx = at_x.borrowed ? *at_x.borrowed : *at_x.v;
        if (!at_b.borrowed) upload_own(vb, as_span(b));
        if (!at_x.borrowed && call.options.initial_guess)
            upload_own(vx, std::span<const T>(as_span(x)));
        watch.attach(call.options, group_->comm, [&] { return iterate(vx); });
        out = run(vb, vx, call);
        if (!at_x.borrowed) download_own(vx, as_span(x));
        out.copies = (at_b.borrowed ? 0 : 1) + (at_x.borrowed ? 0 : 1) +
                     (!at_x.borrowed && call.options.initial_guess ? 1 : 0);
    });
    watch.finish();
    return out;
}

template <class T>
outcome kept_operator<T>::solve(const device_array& b, const device_array& x, solve_call call) {
    solve_watch watch(call.callback, call.callback_type, call.signals);
    outcome out;
    drive_calls([&] {
        const vector<T> vb = borrow(a_->range_layout(), b);
        vector<T> vx = borrow(a_->domain_layout(), x);
        watch.attach(call.options, group_->comm, [&] { return iterate(vx); });
        out = run(vb, vx, call);
        group_->comm.synchronize();
    });
    watch.finish();
    return out;
}

template <class T>
std::vector<outcome> kept_operator<T>::solve_columns(const host_array<const T>& b,
                                                     const host_array<T>& x, int columns,
                                                     solve_call call) {
    if (!matrix_) throw usage_error("columns at once need the matrix in host memory");
    std::string text = "none";
    if (nb::isinstance<nb::str>(call.m)) text = nb::cast<std::string>(call.m);
    const driving devices(*group_);
    const std::string of = call.solver + '/' + text + '/' + std::to_string(columns);
    if (!columns_ || columns_of_ != of) {
        columns_.reset();
        columns_ = std::make_unique<column_solver<T>>(
            group_->comm, matrix_->view(), columns,
            column_method{.solver = call.solver, .preconditioner = text}, call.options, options_,
            matrix_nodes{.block_size = options_.block_size});
        columns_of_ = of;
    }
    columns_->options() = call.options;
    std::vector<outcome> outcomes;
    for (solve_result& r : interruptible(columns_->options(),
                                         [&] { return columns_->solve(as_span(b), as_span(x)); })) {
        outcome out;
        const solve_attempt* best = r.best_attempt();
        out.solver = best != nullptr ? best->solver : columns_->solver_name();
        out.preconditioner =
            best != nullptr ? best->preconditioner : columns_->preconditioner_name();
        out.result = std::move(r);
        outcomes.push_back(std::move(out));
    }
    return outcomes;
}

template <class T>
void kept_operator<T>::release_workspace() {
    drive(*group_, [&] {
        a_->release_workspace();
        m_.reset();
        columns_.reset();
        for (auto* kept : {&b_, &x_, &factor_, &product_y_}) kept->reset();
    });
}

} // namespace krylith::python
