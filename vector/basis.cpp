#include <krylith/vector/basis.hpp>

#include <optional>

#include <krylith/device/error.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/device/trace/trace_range.hpp>
#include <krylith/vector/kernels/basis_pass.hpp>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith {

template <class T>
basis<T>::basis(int count, const std::function<vector<T>()>& make) {
    vectors_.reserve(static_cast<std::size_t>(count));
    for (int j = 0; j < count; ++j) vectors_.push_back(make());
    const communicator& comm = layout()->comm;
    tables_ = by_rank(comm, [&](int rank) {
        std::vector<T*> pointers;
        for (const auto& v : vectors_) pointers.push_back(v.data(rank));
        return buffer<T*>(comm.handle(rank), std::span<T* const>(pointers), "vectors");
    });
}

namespace {

template <class T>
void launch_dots(device& device, const basis_arguments<T>& a) {
    KRYLITH_ON(device, multi_dot(device, a));
}

template <class T>
void launch_update(device& device, const basis_arguments<T>& a) {
    KRYLITH_ON(device, multi_axpy(device, a));
}

template <class T>
void axpy(execution& run, const basis<T>& v, int count, int first, vector<T>& w,
          std::optional<std::uint8_t> norm) {
    const trace_range range("reduction");
    check_pass(v, count, 0, v.count(), w);
    if (w.exchange() != nullptr)
        throw usage_error("multi_axpy: the result must be a vector without ghosts");
    run.open({});
    if (norm) run.publish({&*norm, 1});
    for (const int rank : run.comm().local()) {
        auto a = pass_arguments<basis_arguments<T>>(run, v, count, w, first, rank);
        a.norm = norm.has_value();
        launch_update(run.comm()[rank], a);
    }
    run.close();
}

} // namespace

template <class T>
void multi_dot(execution& run, const basis<T>& v, int count, const vector<T>& w, int first) {
    check_pass(v, count, 0, v.count(), w);
    run.open({});
    run.publish_array(first, count + 1);
    for (const int rank : run.comm().local()) {
        auto a = pass_arguments<basis_arguments<T>>(run, v, count, w, first, rank);
        a.norm = true;
        launch_dots(run.comm()[rank], a);
    }
    run.close();
}

template <class T>
void multi_axpy(execution& run, const basis<T>& v, int count, int first, vector<T>& w) {
    axpy(run, v, count, first, w, std::nullopt);
}

template <class T>
void multi_axpy(execution& run, const basis<T>& v, int count, int first, vector<T>& w,
                const scalar& norm) {
    axpy(run, v, count, first, w, norm.number());
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template class basis<T>;                                                                       \
    template void multi_dot(execution&, const basis<T>&, int, const vector<T>&, int);              \
    template void multi_axpy(execution&, const basis<T>&, int, int, vector<T>&);                   \
    template void multi_axpy(execution&, const basis<T>&, int, int, vector<T>&, const scalar&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
