// The definitions of kept_operator, for the two files that instantiate it.
#pragma once

#include <utility>

#include <krylith/partition/row_partition.hpp>
#include <krylith/precond/own_preconditioner.hpp>
#include <krylith/solvers/automatic.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/spmv/cost_model.hpp>
#include <krylith/spmv/matrix_free.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/vector/fused.hpp>

#include "operator.hpp"

namespace krylith::python {

/// Whether one array of host memory is a vector of the layout (borrow_host_array()).
[[nodiscard]] inline bool lies_in_place(const layout& l) {
    return l.group.kind() == backend::host && (l.kind == coherence::owned || l.group.size() == 1) &&
           !l.order;
}

template <class T>
void check_length(const char* name, std::size_t length, std::int64_t wanted) {
    if (static_cast<std::int64_t>(length) != wanted)
        throw usage_error(std::string(name) + " has " + std::to_string(length) +
                          " entries, allowed are " + std::to_string(wanted));
}

template <class T>
kept_operator<T>::kept_operator(std::shared_ptr<group_handle> group, matrix_pointer matrix,
                                const operator_options& options, const kept_operator* like)
    : group_(std::move(group)), matrix_(std::move(matrix)), options_(options) {
    const driving devices(*group_);
    a_ = like == nullptr ? make_operator(group_->group, matrix_->view(), options_)
                         : make_operator(like->a().layouts(), matrix_->view(), options_);
}

template <class T>
kept_operator<T>::kept_operator(std::shared_ptr<group_handle> group, std::int64_t rows,
                                std::int64_t columns, nb::object product)
    : group_(std::move(group)), product_(std::move(product)) {
    if (group_->group.size() != 1)
        throw usage_error("an operator of a Python function is on one device, since each call "
                          "computes all rows; devices has " +
                          std::to_string(group_->group.size()));
    const driving devices(*group_);
    const auto f = [this, rows, columns](const product_call<T>& call) {
        (void)failure_.run([&] {
            const std::size_t size = as_size(columns);
            const nb::object y = product_(copied(std::vector<T>(call.x, call.x + size)));
            const auto values = nb::cast<host_array<const T>>(y);
            check_length<T>("the function's result", values.size(), rows);
            std::copy_n(values.data(), values.size(), call.y);
        });
        // The solve must end: nothing is right from here on.
        if (failure_) throw usage_error("the function raised an exception");
    };
    a_ = make_matrix_free<T>(group_->group, equal_rows(rows, 1), equal_rows(columns, 1), f,
                             product_kind::on_host);
}

template <class T>
kept_operator<T>::kept_operator(std::shared_ptr<group_handle> group, const csr_part<T>& part,
                                const operator_options& options, nb::object arrays)
    : group_(std::move(group)), options_(options), arrays_(std::move(arrays)) {
    const driving devices(*group_);
    options_.borrow = true;
    a_ = make_operator<T>(group_->group, std::span(&part, 1), options_);
}

template <class T>
nb::dict kept_operator<T>::explain() const {
    nb::dict d;
    d["operator"] = to_string(a_->kind());
    d["format"] = a_->format_name();
    d["transport"] = to_string(a_->transport());
    nb::list bytes, received;
    for (int rank = 0; rank < group_->group.size(); ++rank) {
        bytes.append(a_->matrix_bytes(rank));
        received.append(a_->received(rank));
    }
    d["matrix_bytes"] = bytes;
    d["received"] = received;
    if (const operator_choice* choice = a_->choice()) {
        d["because"] = choice->because;
        d["predictions"] = in_words(choice->predictions);
        d["rates_from"] = choice->rates_from;
    }
    if (m_) {
        d["preconditioner"] = m_->m.name();
        d["levels"] = m_->m.levels().size();
    }
    return d;
}

template <class T>
auto kept_operator<T>::place(const layout_handle& layout, std::span<T> array,
                             std::optional<vector<T>>& kept) const -> placed {
    placed result;
    if (lies_in_place(*layout)) {
        std::vector<T*> parts;
        for (int rank = 0; rank < layout->group.size(); ++rank)
            parts.push_back(array.data() + layout->rows.owned(rank).begin);
        result.borrowed = vector<T>::borrow(layout, parts);
        return result;
    }
    if (!kept) kept.emplace(layout);
    result.v = &*kept;
    return result;
}

template <class T>
vector<T> kept_operator<T>::borrow(const layout_handle& layout, const device_array& array) const {
    const auto ranks = static_cast<std::size_t>(layout->group.size());
    if (array.addresses.size() != ranks)
        throw usage_error(std::to_string(array.addresses.size()) + " arrays, allowed are " +
                          std::to_string(ranks) + ", one a device");
    if (layout->order)
        throw usage_error("arrays on devices can't be used where the operator orders rows");
    std::vector<T*> parts;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const auto number = static_cast<int>(rank);
        auto* const p = reinterpret_cast<T*>(array.addresses[rank]); // NOLINT: an address
        check_length<T>("an array on a device", static_cast<std::size_t>(array.sizes[rank]),
                        layout->held(number));
        if (const auto where = layout->group[number].lies_elsewhere(p); !where.empty())
            throw usage_error("an array for device " + std::to_string(rank) + " lies in " + where);
        parts.push_back(p);
    }
    return vector<T>::borrow(layout, parts);
}

template <class T>
void kept_operator<T>::multiply(const host_array<const T>& x, const host_array<T>& y) {
    check_length<T>("x", x.size(), a_->columns());
    check_length<T>("y", y.size(), a_->rows());
    {
        const driving devices(*group_);
        failure_.clear();
        execution run(group_->group, {});
        placed result = place(a_->range_layout(), as_span(y), product_y_);
        vector<T>& to = result.borrowed ? *result.borrowed : *result.v;
        if (!factor_) factor_.emplace(a_->make_domain_vector());
        factor_->upload(as_span(x));
        put_ghosts(run, *factor_);
        a_->apply(run, T(1), *factor_, T(0), to);
        try {
            group_->group.synchronize();
        } catch (...) {
            if (!failure_) throw;
        }
        if (!failure_ && !result.borrowed) to.download(as_span(y));
    }
    failure_.rethrow();
}

template <class T>
void kept_operator<T>::update(const host_array<const T>& values) {
    if (!matrix_) throw usage_error("update: the operator has no matrix in host memory");
    const driving devices(*group_);
    matrix_->update(values);
    a_->update(matrix_->view().values);
    ++values_;
    columns_.reset(); // they have the old values, and no update
}

template <class T>
std::unique_ptr<kept_operator<T>> kept_operator<T>::transposed() {
    if (!matrix_) throw usage_error("the transpose needs the matrix in host memory");
    auto flipped = std::make_unique<host_matrix<T>>(transpose(matrix_->view()));
    operator_options options = options_;
    options.transposed_products = false;
    return std::make_unique<kept_operator>(group_, std::move(flipped), options, nullptr);
}

template <class T>
void kept_operator<T>::update_transposed(kept_operator& transposed) {
    const driving devices(*group_);
    transposed.matrix_->update(transpose(matrix_->view()).values);
    transposed.a_->update(transposed.matrix_->view().values);
    ++transposed.values_;
    transposed.columns_.reset();
}

template <class T>
void kept_operator<T>::prepare_transpose() {
    if (a_->has_transposed()) return;
    if (!matrix_) throw usage_error("least squares need the matrix in host memory");
    options_.transposed_products = true;
    auto with = make_operator(a_->layouts(), matrix_->view(), options_);
    a_->release_workspace();
    m_.reset();
    if (gave_m_) replaced_ = std::move(a_);
    a_ = std::move(with);
}

template <class T>
auto kept_operator<T>::make(std::string text, int block_size, std::vector<double> near_null)
    -> preconditioner_pointer {
    const driving devices(*group_);
    auto result = std::make_shared<named_preconditioner<T>>();
    result->text = std::move(text);
    result->block_size = block_size;
    result->near_null = std::move(near_null);
    result->make(*a_, matrix());
    result->values = values_;
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
        made.make(*a_, matrix());
        made.values = values_;
        m_ = std::move(made);
    }
    return *m_;
}

template <class T>
void kept_operator<T>::precondition(named_preconditioner<T>& m, const host_array<const T>& r,
                                    const host_array<T>& z) {
    check_length<T>("r", r.size(), a_->rows());
    check_length<T>("z", z.size(), a_->rows());
    const driving devices(*group_);
    m.refresh(*a_, matrix(), values_);
    execution run(group_->group, {});
    vector<T> from = a_->make_range_vector();
    vector<T> to = a_->make_domain_vector();
    from.upload(as_span(r));
    m.m.apply(run, from, to);
    to.download(as_span(z));
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
    failure_.clear();

    any_preconditioner<T> none;
    std::optional<own_preconditioner<T>> own;
    named_preconditioner<T>* named = nullptr;
    bool chosen = false; // with the method
    std::string text;
    nb::handle function;
    {
        const nb::gil_scoped_acquire locked;
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
                                           {.kind = preconditioner_kind::whole_on_host,
                                            .name = "a Python function",
                                            .varies = method.takes_varying}));
    if (named != nullptr) named->refresh(*a_, matrix(), values_);

    outcome out;
    out.solver = std::string(static_cast<std::string_view>(method.name));
    try {
        if (chosen)
            out.result = matrix_ ? krylith::solve(*a_, matrix_->view(), b, x, call.options,
                                                  {.block_size = options_.block_size})
                                 : krylith::solve(*a_, b, x, call.options);
        else if (own)
            out.result = method.template solve<T>(*a_, b, x, call.options, std::cref(*own));
        else
            out.result = method.template solve<T>(*a_, b, x, call.options,
                                                  named != nullptr ? named->m : none);
    } catch (...) {
        failure_.rethrow(); // what a function of Python raised is the cause of it
        throw;
    }
    failure_.rethrow();
    if (named != nullptr && out.result.converged()) named->m.solved(out.result.iterations);
    if (const solve_attempt* best = out.result.best_attempt()) {
        out.solver = best->solver;
        out.preconditioner = best->preconditioner;
    } else {
        out.preconditioner = own ? own->name() : named != nullptr ? named->m.name() : "none";
    }
    return out;
}

template <class T>
outcome kept_operator<T>::solve(const host_array<const T>& b, const host_array<T>& x,
                                solve_call call) {
    check_length<T>("b", b.size(), a_->rows());
    check_length<T>("x", x.size(), a_->columns());
    solve_watch watch(call.callback, call.callback_type, call.signals);
    outcome out;
    {
        const driving devices(*group_);
        // The solvers only read b.
        const std::span<T> mutable_b(const_cast<T*>(b.data()), b.size());
        placed at_b = place(a_->range_layout(), mutable_b, b_);
        placed at_x = place(a_->domain_layout(), as_span(x), x_);
        vector<T>& vb = at_b.borrowed ? *at_b.borrowed : *at_b.v;
        vector<T>& vx = at_x.borrowed ? *at_x.borrowed : *at_x.v;
        if (!at_b.borrowed) vb.upload(as_span(b));
        if (!at_x.borrowed && call.options.initial_guess) vx.upload(as_span(x));
        watch.attach(call.options, [&vx, n = x.size()] {
            std::vector<T> values(n);
            vx.download(values);
            return copied(std::move(values));
        });
        out = run(vb, vx, call);
        if (!at_x.borrowed) vx.download(as_span(x));
        out.copies = (at_b.borrowed ? 0 : 1) + (at_x.borrowed ? 0 : 1) +
                     (!at_x.borrowed && call.options.initial_guess ? 1 : 0);
    }
    watch.finish();
    return out;
}

template <class T>
outcome kept_operator<T>::solve(const device_array& b, const device_array& x, solve_call call) {
    solve_watch watch(call.callback, call.callback_type, call.signals);
    outcome out;
    {
        const driving devices(*group_);
        const vector<T> vb = borrow(a_->range_layout(), b);
        vector<T> vx = borrow(a_->domain_layout(), x);
        watch.attach(call.options, [&vx] {
            std::vector<T> values(as_size(vx.size()));
            vx.download(values);
            return copied(std::move(values));
        });
        out = run(vb, vx, call);
        group_->group.synchronize();
    }
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
            group_->group, matrix_->view(), columns,
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
    const driving devices(*group_);
    a_->release_workspace();
    m_.reset();
    columns_.reset();
    for (auto* kept : {&b_, &x_, &factor_, &product_y_}) kept->reset();
}

} // namespace krylith::python
