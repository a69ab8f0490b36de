// How a kept_operator is made, multiplied, transposed and given new values: definitions for the two
// files that instantiate it.
#pragma once

#include <utility>

#include <krylith/partition/row_partition.hpp>
#include <krylith/spmv/cost_model.hpp>
#include <krylith/spmv/matrix_free.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/vector/fused.hpp>

#include "interpreter_lock.hpp"
#include "operator.hpp"

namespace krylith::python {

/// Whether one array of host memory is a vector of the layout (borrow_host_array()).
[[nodiscard]] inline bool lies_in_place(const layout& l) {
    return l.comm.kind() == backend::host && (l.kind == coherence::owned || l.comm.ranks() == 1) &&
           !l.order;
}

/// The rows whose entries this process gives and gets.
[[nodiscard]] inline row_range own_rows(const layout& l) {
    const auto local = l.comm.local();
    return {l.rows.owned(local.front()).begin, l.rows.owned(local.back()).end};
}

/// Entries as Python has them: all, in the caller's order of rows, or those of this process.
template <class T>
void upload_own(vector<T>& to, std::span<const T> values) {
    to.layout()->comm.has_one_driver() ? to.upload(values) : to.upload_local(values);
}
/// It waits for the devices of this process, and not for others.
template <class T>
void download_own(const vector<T>& from, std::span<T> values) {
    const layout& l = *from.layout();
    if (l.comm.has_one_driver()) return from.download(values);
    for (const int rank : l.comm.local()) {
        const row_range rows = l.rows.owned(rank);
        l.comm[rank].download(values.data() + (rows.begin - own_rows(l).begin), from.data(rank),
                              as_size(rows.size()) * sizeof(T));
    }
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
    a_ = like == nullptr ? make_operator(group_->comm, matrix_->view(), options_)
                         : make_operator(like->a().layouts(), matrix_->view(), options_);
}

template <class T>
kept_operator<T>::kept_operator(std::shared_ptr<group_handle> group, std::int64_t rows,
                                std::int64_t columns, nb::object product, product_kind kind)
    : group_(std::move(group)), product_(std::move(product)) {
    if (group_->comm.ranks() != 1)
        throw usage_error("an operator of a Python function is on one device, since each call "
                          "computes all rows; devices has " +
                          std::to_string(group_->comm.ranks()));
    const driving devices(*group_);
    const auto f = [this](const product_call<T>& call) {
        (void)failure_.run([&] { compute(call); });
        // The solve must end: nothing is right from here on.
        if (failure_) throw usage_error("the function raised an exception");
    };
    a_ = make_matrix_free<T>(group_->comm, equal_rows(rows, 1), equal_rows(columns, 1), f, kind);
}

template <class T>
void kept_operator<T>::compute(const product_call<T>& call) const {
    const std::int64_t columns = a_->columns();
    if (call.stream != nullptr) {
        const auto address = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
        product_(address(call.x), columns, address(call.y), call.rows.size(), address(call.stream));
        return;
    }
    const nb::object y = product_(copied(std::vector<T>(call.x, call.x + as_size(columns))));
    const auto values = nb::cast<host_array<const T>>(y);
    check_length<T>("the function's result", values.size(), call.rows.size());
    std::copy_n(values.data(), values.size(), call.y);
}

template <class T>
kept_operator<T>::kept_operator(std::shared_ptr<group_handle> group, rows_pointer rows,
                                const operator_options& options, const kept_operator* like)
    : group_(std::move(group)), rows_(std::move(rows)), options_(options) {
    drive(*group_, [&] {
        rows_->join(group_->comm);
        a_ = rows_->make(group_->comm, options_,
                         like == nullptr ? std::nullopt : std::optional(like->a().layouts()));
    });
}

template <class T>
std::pair<std::int64_t, std::int64_t> kept_operator<T>::local_shape() const {
    return {own_rows(*a_->range_layout()).size(), own_rows(*a_->domain_layout()).size()};
}

template <class T>
nb::dict kept_operator<T>::explain() const {
    check_idle(*group_);
    nb::dict d;
    d["operator"] = to_string(a_->kind());
    d["format"] = a_->format_name();
    d["transport"] = to_string(a_->transport());
    nb::list bytes, received;
    for (const int rank : group_->comm.local()) {
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
        result.borrowed = vector<T>::borrow(
            layout, by_rank(layout->comm, [&](int rank) {
                return array.data() + (layout->rows.owned(rank).begin - own_rows(*layout).begin);
            }));
        return result;
    }
    if (!kept) kept.emplace(layout);
    result.v = &*kept;
    return result;
}

template <class T>
std::vector<T*> kept_operator<T>::addresses(const device_array& array,
                                            const std::vector<std::int64_t>& lengths,
                                            bool reads_host) const {
    const communicator& comm = group_->comm;
    if (array.size() != comm.local().size())
        throw usage_error(std::to_string(array.size()) + " arrays, allowed are " +
                          std::to_string(comm.local().size()) + ", one a device");
    return by_rank(comm, [&](int rank) {
        const auto& [address, size] = array[as_size(rank - comm.first_local())];
        auto* const p = reinterpret_cast<T*>(address); // NOLINT: an address
        check_length<T>("an array on a device", as_size(size), lengths[as_size(rank)]);
        // An array without entries may be anywhere, as far as its address says.
        if (size == 0) return static_cast<T*>(nullptr);
        if (const auto where = comm[rank].lies_elsewhere(p);
            !where.empty() && !(reads_host && where == host_memory_name))
            throw usage_error("an array for device " + std::to_string(rank) + " lies in " + where);
        return p;
    });
}

template <class T>
vector<T> kept_operator<T>::borrow(const layout_handle& layout, const device_array& array) const {
    if (layout->order)
        throw usage_error("arrays on devices can't be used where the operator orders rows");
    std::vector<std::int64_t> lengths;
    for (int rank = 0; rank < layout->comm.ranks(); ++rank) lengths.push_back(layout->held(rank));
    return vector<T>::borrow(layout, addresses(array, lengths));
}

template <class T>
void kept_operator<T>::multiply(const vector<T>& x, vector<T>& y) {
    execution run(group_->comm, {});
    if (!factor_) factor_.emplace(a_->make_domain_vector());
    if (&x != &*factor_) fused(run, *factor_ = x); // which has the ghosts that A needs
    put_ghosts(run, *factor_);
    a_->apply(run, T(1), *factor_, T(0), y);
    try {
        group_->comm.synchronize_all();
    } catch (...) {
        if (!failure_) throw;
    }
}

template <class T>
void kept_operator<T>::multiply(const host_array<const T>& x, const host_array<T>& y) {
    check_length<T>("x", x.size(), local_shape().second);
    check_length<T>("y", y.size(), local_shape().first);
    drive_calls([&] {
        placed result = place(a_->range_layout(), as_span(y), product_y_);
        vector<T>& to = result.borrowed ? *result.borrowed : *result.v;
        if (!factor_) factor_.emplace(a_->make_domain_vector());
        upload_own(*factor_, as_span(x));
        multiply(*factor_, to);
        if (!failure_ && !result.borrowed) download_own(to, as_span(y));
    });
}

template <class T>
void kept_operator<T>::multiply(const device_array& x, const device_array& y) {
    drive_calls([&] {
        vector<T> to = borrow(a_->range_layout(), y);
        multiply(borrow(a_->domain_layout(), x), to);
    });
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
void kept_operator<T>::update(const device_array& values, nb::object arrays) {
    if (!rows_) throw usage_error("update: the matrix is in host memory, and so must values be");
    drive(*group_, [&] {
        const auto found = addresses(values, rows_->sizes(), rows_->has_copies());
        const std::vector<const T*> where(found.begin(), found.end());
        if (rows_->has_copies()) {
            rows_->copy(where);
        } else {
            const with_lock locked;
            rows_->refer(where, std::move(arrays));
        }
        a_->update_on_devices(rows_->values());
        group_->comm.synchronize_all();
    });
    ++values_;
}

template <class T>
std::unique_ptr<kept_operator<T>> kept_operator<T>::transposed() {
    operator_options options = options_;
    options.transposed_products = false;
    if (rows_) {
        rows_pointer flipped = drive(*group_, [&] { return rows_->transpose(group_->comm); });
        return std::make_unique<kept_operator>(group_, std::move(flipped), options, nullptr);
    }
    if (!matrix_) throw usage_error("the transpose needs the entries of A");
    auto flipped = std::make_unique<host_matrix<T>>(transpose(matrix_->view()));
    return std::make_unique<kept_operator>(group_, std::move(flipped), options, nullptr);
}

template <class T>
void kept_operator<T>::update_transposed(kept_operator& transposed) {
    drive(*group_, [&] {
        if (rows_) {
            rows_->transpose_values(group_->comm);
            transposed.a_->update_on_devices(transposed.rows_->values());
            group_->comm.synchronize_all();
        } else {
            transposed.matrix_->update(transpose(matrix_->view()).values);
            transposed.a_->update(transposed.matrix_->view().values);
        }
    });
    ++transposed.values_;
    transposed.columns_.reset();
}

} // namespace krylith::python
