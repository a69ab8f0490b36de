#include <krylith/vector/kernels/delayed_basis.hpp>

#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/device/trace/trace_range.hpp>
#include <krylith/vector/ghosts/ghost_exchange.hpp>
#include <krylith/vector/kernels/basis_pass.hpp>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith {

namespace {

template <class T>
void launch_delayed_dots(device& device, const delayed_arguments<T>& a) {
    KRYLITH_ON(device, delayed_dots(device, a));
}

template <class T>
void launch_delayed_update(device& device, const delayed_arguments<T>& a) {
    KRYLITH_ON(device, delayed_update(device, a));
}

} // namespace

template <class T>
void delayed_dots(execution& run, const basis<T>& v, int count, const vector<T>& w, int first) {
    const trace_range range("reduction");
    check_pass(v, count, 1, v.count(), w);
    run.open({});
    run.publish_array(first, 2 * count + 1);
    for (const int rank : run.comm().local())
        launch_delayed_dots(run.comm()[rank],
                            pass_arguments<delayed_arguments<T>>(run, v, count, w, first, rank));
    run.close();
}

template <class T>
void delayed_update(execution& run, basis<T>& v, int count, const vector<T>& w, int first) {
    check_pass(v, count, 1, v.count() - 1, w);
    const auto* const exchange = v[count].exchange();
    run.open({});
    const kernel_context& opened = run.at(run.comm().first_local());
    if (opened.batch > 0 && opened.batch_array >= 0)
        throw usage_error("delayed_update: the coefficients are still a batch of " +
                          std::to_string(opened.batch) +
                          " values under way, but must be in the array: call compute() or flush() "
                          "before");
    if (exchange != nullptr) run.join_opened();
    for (const int rank : run.comm().local()) {
        auto a = pass_arguments<delayed_arguments<T>>(run, v, count, w, first, rank);
        a.sends = exchange != nullptr;
        if (exchange != nullptr) a.put = exchange->put(rank, run.ordered());
        launch_delayed_update(run.comm()[rank], a);
    }
    if (exchange != nullptr) exchange->forward();
    run.close();
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void delayed_dots(execution&, const basis<T>&, int, const vector<T>&, int);           \
    template void delayed_update(execution&, basis<T>&, int, const vector<T>&, int);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
