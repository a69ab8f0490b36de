#include <krylith/spmspv/adaptive_product.hpp>

#include <chrono>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/spmspv/selection/product_features.hpp>

namespace krylith::spmspv {

namespace {

/// Whether the kernel adds in the same order every time.
template <class S>
bool repeats(kernel k) {
    return S::exact || direction_of(k) != direction::push || write_back_of(k) == write_back::sort;
}

/// Models are trained on sums of all terms. Where the first one suffices, a row kernel stops at it,
/// and spmv does not. Before it meets an entry of x a row reads 1 / ratio entries of A, where ratio
/// is the fraction of nonzeros that is effective: rows / ratio together. A column kernel takes
/// nonzeros * ratio, each for many times the price (an atomic, its bit, the list; and rows that are
/// skipped cost a row kernel nothing). So for few entries of x the model chooses, and for many the
/// choice is `row`, since the balanced kernel could not stop. The price is that of host devices:
/// switches at fixed ratios (bench_graph, bfs) did best at 0.01 to 0.03 on kron:15:16 and
/// random:50000:17, and hardly differed on road:300.
template <class S>
kernel for_semiring(kernel k, double ratio, double mean_row) {
    if (!S::first_suffices) return k;
    constexpr double price = 50;
    if (direction_of(k) == direction::push && price * ratio * ratio * mean_row < 1) return k;
    return kernel::row;
}

template <class M>
device& device_of(const std::shared_ptr<const csr_csc_pair<M>>& a) {
    if (a == nullptr) throw usage_error("adaptive_product: the matrix is null");
    return a->device();
}

} // namespace

template <class S, class M>
adaptive_product<S, M>::adaptive_product(std::shared_ptr<const csr_csc_pair<M>> a,
                                         const adaptive_options& options)
    : a_((device_of(a), std::move(a))),
      model_(options.model),
      fixed_(options.fixed),
      reproducible_(options.reproducible),
      as_predicted_(options.as_predicted),
      scratch_(a_->handle()) {
    if (model_ == nullptr) model_ = std::make_shared<const kernel_model>(model_for(a_->device()));
    if (fixed_ && reproducible_ && !repeats<S>(*fixed_))
        throw usage_error("adaptive_product: the fixed kernel is " +
                          std::string(to_string(*fixed_)) +
                          ", which adds in another order each time; allowed for reproducible "
                          "products of " +
                          S::name + " are spmv, row and column-*-sort kernels");
}

template <class S, class M>
product_record adaptive_product<S, M>::operator()(sparse_vector<T>& x, sparse_vector<T>& y,
                                                  const product_options<T>& options,
                                                  std::int64_t frontier_nonzeros) {
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    product_record record;
    product_features<M, T> features(*a_, x, options.wanted, frontier_nonzeros);
    if (fixed_) {
        record.used = record.predicted = *fixed_;
    } else {
        const kernel chosen = choose_kernel(*model_, std::ref(features));
        const double ratio = features.guessed_ratio();
        record.predicted =
            as_predicted_ ? chosen : for_semiring<S>(chosen, ratio, a_->features().mean_row);
        record.used = as_predicted_ ? chosen : switch_.decide(record.predicted, ratio);
        if (reproducible_ && !repeats<S>(record.used))
            record.used =
                kernel_of(direction::push, distribution_of(record.used), write_back::sort);
    }
    record.entries = features.known_entries();
    record.frontier_nonzeros = features.known_nonzeros();
    record.select_seconds = std::chrono::duration<double>(clock::now() - begin).count();
    multiply<S>(record.used, *a_, x, y, scratch_, options, record.frontier_nonzeros);
    return record;
}

#define KRYLITH_INSTANTIATE(S, M) template class adaptive_product<S, M>;
KRYLITH_FOR_PRODUCTS(KRYLITH_INSTANTIATE)
#undef KRYLITH_INSTANTIATE

} // namespace krylith::spmspv
