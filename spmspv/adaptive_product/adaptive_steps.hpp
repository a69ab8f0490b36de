// The text of adaptive_product, step by step: for the library's semirings, which
// adaptive_product.cpp instantiates, and for those of users (semirings/own_semiring.hpp).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/host/processor_seconds.hpp>
#include <krylith/spmspv/adaptive_product.hpp>
#include <krylith/spmspv/product/multiply_steps.hpp>
#include <krylith/spmspv/selection/product_features.hpp>

namespace krylith::spmspv {

using product_clock = std::chrono::steady_clock;

inline double product_seconds_since(product_clock::time_point begin) {
    return std::chrono::duration<double>(product_clock::now() - begin).count();
}

/// Whether the kernel adds in the same order every time.
template <class S>
bool kernel_repeats(kernel k) {
    return S::exact || direction_of(k) != direction::push || write_back_of(k) == write_back::sort;
}

/// Models are trained on sums of all terms. Where the first one suffices, a row kernel stops at it
/// (so does spmv, which leaves y without bits). Before it meets an entry of x a row reads 1 / ratio
/// entries of A, where ratio is the fraction of nonzeros that is effective: rows / ratio together.
/// A column kernel takes nonzeros * ratio, each for many times the price (an atomic, its bit, the
/// list; and rows that are skipped cost a row kernel nothing). So for few entries of x the model
/// chooses, and for many the choice is `row`, since the balanced kernel could not stop. The price
/// is that of host devices: switches at fixed ratios (bench_graph, bfs) did best at 0.01 to 0.03 on
/// kron:15:16 and random:50000:17, and hardly differed on road:300.
template <class S>
kernel for_semiring(kernel k, double ratio, double mean_row) {
    if (!S::first_suffices) return k;
    constexpr double price = 50;
    if (direction_of(k) == direction::push && price * ratio * ratio * mean_row < 1) return k;
    return kernel::row;
}

template <class M>
device& device_of_product(const std::shared_ptr<const csr_csc_pair<M>>& a) {
    if (a == nullptr) throw usage_error("adaptive_product: the matrix is null");
    return a->device();
}

template <class S, class M>
adaptive_product<S, M>::adaptive_product(std::shared_ptr<const csr_csc_pair<M>> a,
                                         const adaptive_options& options)
    : a_((device_of_product(a), std::move(a))),
      model_(options.model),
      fixed_(options.fixed),
      reproducible_(options.reproducible),
      as_predicted_(options.as_predicted),
      clocked_(options.clocked),
      scratch_(a_->handle()) {
    if (options.rehearsals < 0)
        throw usage_error("adaptive_product: rehearsals are " + std::to_string(options.rehearsals) +
                          ", must be 0 or more");
    if (model_ == nullptr) model_ = std::make_shared<const kernel_model>(model_for(a_->device()));
    if (fixed_ && reproducible_ && !kernel_repeats<S>(*fixed_))
        throw usage_error("adaptive_product: the fixed kernel is " +
                          std::string(to_string(*fixed_)) +
                          ", which adds in another order each time; allowed for reproducible "
                          "products of " +
                          S::name + " are spmv, row and column-*-sort kernels");
    if (options.rehearsals > 0)
        rehearsal_ =
            std::make_unique<kernel_rehearsal<S, M>>(a_->handle(), a_->rows(), options.rehearsals);
}

template <class S, class M>
product_record adaptive_product<S, M>::choose(sparse_vector<T>& x, vector_form wanted,
                                              std::int64_t frontier_nonzeros) {
    if (clocked_) a_->device().synchronize();
    const product_clock::time_point begin = product_clock::now();
    product_record record;
    product_features<M, T> features(*a_, x, wanted, frontier_nonzeros);
    if (fixed_) {
        record.used = record.predicted = *fixed_;
    } else {
        const auto clocked = [&](feature f) {
            const product_clock::time_point asked = product_clock::now();
            const double value = features(f);
            record.parts.features += product_seconds_since(asked);
            return value;
        };
        const kernel chosen =
            clocked_ ? choose_kernel(*model_, clocked) : choose_kernel(*model_, std::ref(features));
        const double ratio = features.guessed_ratio();
        record.predicted =
            as_predicted_ ? chosen : for_semiring<S>(chosen, ratio, a_->features().mean_row);
        record.used = as_predicted_ ? chosen : switch_.decide(record.predicted, ratio);
        if (reproducible_ && !kernel_repeats<S>(record.used))
            record.used =
                kernel_of(direction::push, distribution_of(record.used), write_back::sort);
    }
    record.entries = features.known_entries();
    record.frontier_nonzeros = features.known_nonzeros();
    record.select_seconds = product_seconds_since(begin);
    if (clocked_) record.parts.model = record.select_seconds - record.parts.features;
    return record;
}

/// The same product as multiply(), whose conversions are done here, so that nothing is left to
/// convert there.
template <class S, class M>
void adaptive_product<S, M>::multiply_by_parts(product_record& record, sparse_vector<T>& x,
                                               sparse_vector<T>& y, product_options<T> options) {
    device& device = a_->device();
    double last = idle_seconds(device);
    const auto lap = [&] {
        const double now = idle_seconds(device);
        return now - std::exchange(last, now);
    };
    // Where no form was made there was nothing to wait for.
    const auto convert = [&](const auto& conversion) {
        const vector_forms of_x = x.forms();
        const vector_forms of_y = y.forms();
        conversion();
        if (x.forms() != of_x || y.forms() != of_y) record.parts.conversions += lap();
    };
    const bool as_it_comes = std::exchange(options.as_it_comes, true);
    convert([&] {
        require_forms<S>(direction_of(record.used), x);
        if (options.beta != 0) y.require(vector_form::dense);
    });
    multiply<S>(record.used, *a_, x, y, scratch_, options, record.frontier_nonzeros);
    record.parts.kernel = lap();
    if (!as_it_comes) convert([&] { require_wanted(options.wanted, y); });
}

template <class S, class M>
product_record adaptive_product<S, M>::operator()(sparse_vector<T>& x, sparse_vector<T>& y,
                                                  const product_options<T>& options,
                                                  std::int64_t frontier_nonzeros) {
    product_record record = choose(x, options.wanted, frontier_nonzeros);
    if (rehearsal_ != nullptr)
        record.rehearsed = (*rehearsal_)(*a_, x, options, record.frontier_nonzeros);
    if (clocked_)
        multiply_by_parts(record, x, y, options);
    else
        multiply<S>(record.used, *a_, x, y, scratch_, options, record.frontier_nonzeros);
    return record;
}

} // namespace krylith::spmspv
