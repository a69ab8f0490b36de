#include <krylith/vector/delayed_basis.hpp>

#include <string>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/vector/ghost_exchange.hpp>
#include <krylith/vector/kernels.hpp>

namespace krylith {

namespace {

template <class T>
delayed_arguments<T> arguments(execution& run, const basis<T>& v, int count, const vector<T>& w,
                               int first, int rank) {
    const layout& where = *v.share_layout();
    delayed_arguments<T> a{};
    a.common = run.at(rank);
    a.basis = v.table(rank);
    a.w = w.data(rank);
    a.count = count;
    a.first = first;
    a.size = where.held(rank);
    a.first_owned = where.first_owned(rank);
    a.last_owned = a.first_owned + where.rows.owned(rank).size();
    a.reduce = run.partials(rank);
    return a;
}

template <class T>
void check(const basis<T>& v, int count, int most, const vector<T>& w) {
    if (v.share_layout() != w.share_layout())
        throw usage_error("a basis and the vector it is multiplied with must come from the same "
                          "operator: their layouts differ");
    if (count < 1 || count > most)
        throw usage_error("count is " + std::to_string(count) + ", but must be from 1 to " +
                          std::to_string(most) + " with a basis of " + std::to_string(v.count()) +
                          " vectors");
}

template <class T>
void launch_dots(device& where, const delayed_arguments<T>& a) {
#if KRYLITH_HAVE_CUDA
    if (where.kind() == backend::cuda) return cuda::delayed_dots(where, a);
#endif
    host::delayed_dots(where, a);
}

template <class T>
void launch_update(device& where, const delayed_arguments<T>& a) {
#if KRYLITH_HAVE_CUDA
    if (where.kind() == backend::cuda) return cuda::delayed_update(where, a);
#endif
    host::delayed_update(where, a);
}

} // namespace

template <class T>
void delayed_dots(execution& run, const basis<T>& v, int count, const vector<T>& w, int first) {
    check(v, count, v.count(), w);
    run.open({});
    run.publish_array(first, 2 * count + 1);
    for (int rank = 0; rank < run.ranks(); ++rank)
        launch_dots(run.group()[rank], arguments(run, v, count, w, first, rank));
    run.close();
}

template <class T>
void delayed_update(execution& run, basis<T>& v, int count, const vector<T>& w, int first) {
    check(v, count, v.count() - 1, w);
    const auto* const exchange = v[count].exchange();
    run.open({});
    if (run.at(0).batch > 0 && run.at(0).batch_array >= 0)
        throw usage_error("delayed_update: the coefficients are still a batch of " +
                          std::to_string(run.at(0).batch) +
                          " values under way, but must be in the array: call compute() or flush() "
                          "before");
    if (exchange != nullptr) run.join_if_ordered();
    for (int rank = 0; rank < run.ranks(); ++rank) {
        auto a = arguments(run, v, count, w, first, rank);
        a.sends = exchange != nullptr;
        if (exchange != nullptr) a.push = exchange->push(rank, run.ordered());
        launch_update(run.group()[rank], a);
    }
    if (exchange != nullptr) exchange->forward();
    run.close();
}

template void delayed_dots(execution&, const basis<double>&, int, const vector<double>&, int);
template void delayed_dots(execution&, const basis<float>&, int, const vector<float>&, int);
template void delayed_update(execution&, basis<double>&, int, const vector<double>&, int);
template void delayed_update(execution&, basis<float>&, int, const vector<float>&, int);

} // namespace krylith
