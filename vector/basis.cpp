#include <krylith/vector/basis.hpp>

#include <optional>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/vector/kernels.hpp>

namespace krylith {

template <class T>
basis<T>::basis(int count, const std::function<vector<T>()>& make) {
    vectors_.reserve(static_cast<std::size_t>(count));
    for (int j = 0; j < count; ++j) vectors_.push_back(make());
    const device_group& group = share_layout()->group;
    for (int rank = 0; rank < group.size(); ++rank) {
        std::vector<T*> pointers;
        for (const auto& v : vectors_) pointers.push_back(v.data(rank));
        tables_.emplace_back(group.share(rank), std::span<T* const>(pointers), "vectors");
    }
}

namespace {

template <class T>
basis_arguments<T> arguments(execution& run, const basis<T>& v, int count, const vector<T>& w,
                             int first, bool norm, int rank) {
    const layout& where = *v.share_layout();
    basis_arguments<T> a{};
    a.common = run.at(rank);
    a.basis = v.table(rank);
    a.w = w.data(rank);
    a.count = count;
    a.first = first;
    a.norm = norm;
    a.size = where.held(rank);
    a.first_owned = where.first_owned(rank);
    a.last_owned = a.first_owned + where.rows.owned(rank).size();
    a.reduce = run.partials(rank);
    return a;
}

template <class T>
void check(const basis<T>& v, const vector<T>& w) {
    if (v.share_layout() != w.share_layout())
        throw usage_error("a basis and the vector it is multiplied with must come from the same "
                          "operator: their layouts differ");
}

template <class T>
void axpy(execution& run, const basis<T>& v, int count, int first, vector<T>& w,
          std::optional<std::uint8_t> norm) {
    check(v, w);
    if (w.exchange() != nullptr)
        throw usage_error("multi_axpy: the result must be a vector without ghosts");
    run.open({});
    if (norm) run.publish({&*norm, 1});
    for (int rank = 0; rank < run.ranks(); ++rank) {
        const auto a = arguments(run, v, count, w, first, norm.has_value(), rank);
        device& where = run.group()[rank];
#if KRYLITH_HAVE_CUDA
        if (where.kind() == backend::cuda) {
            cuda::multi_axpy(where, a);
            continue;
        }
#endif
        host::multi_axpy(where, a);
    }
    run.close();
}

} // namespace

template <class T>
void multi_dot(execution& run, const basis<T>& v, int count, const vector<T>& w, int first) {
    check(v, w);
    run.open({});
    run.publish_array(first, count + 1);
    for (int rank = 0; rank < run.ranks(); ++rank) {
        const auto a = arguments(run, v, count, w, first, true, rank);
        device& where = run.group()[rank];
#if KRYLITH_HAVE_CUDA
        if (where.kind() == backend::cuda) {
            cuda::multi_dot(where, a);
            continue;
        }
#endif
        host::multi_dot(where, a);
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

template class basis<double>;
template class basis<float>;
template void multi_dot(execution&, const basis<double>&, int, const vector<double>&, int);
template void multi_dot(execution&, const basis<float>&, int, const vector<float>&, int);
template void multi_axpy(execution&, const basis<double>&, int, int, vector<double>&);
template void multi_axpy(execution&, const basis<float>&, int, int, vector<float>&);
template void multi_axpy(execution&, const basis<double>&, int, int, vector<double>&,
                         const scalar&);
template void multi_axpy(execution&, const basis<float>&, int, int, vector<float>&, const scalar&);

} // namespace krylith
