#include <krylith/solvers/joint/column_basis.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/device/trace/trace_range.hpp>

namespace krylith {

namespace {

/// A vector that shares the entries of another.
template <class T>
vector<T> shared(const vector<T>& v) {
    std::vector<T*> arrays(static_cast<std::size_t>(v.layout()->comm.ranks()));
    for (std::size_t rank = 0; rank < arrays.size(); ++rank)
        arrays[rank] = v.data(static_cast<int>(rank));
    return vector<T>::borrow(v.layout(), arrays);
}

template <class T>
void launch(device& device, basis_pass pass, const column_basis_arguments<T>& a) {
    KRYLITH_ON(device, run_basis_pass(device, pass, a));
}

void launch(device& device, const kernel_context& common, const cycle_task& task) {
    KRYLITH_ON(device, run_cycle_task(device, common, task));
}

} // namespace

template <class T>
column_basis<T>::column_basis(const column_matrix<T>& a, int columns, int m, vector<T>& v0)
    : a_(a), at_{columns, m}, v_(m + 1, [&, first = true]() mutable {
          const bool shares = first;
          first = false;
          return shares ? shared(v0) : a.make_range_vector();
      }) {}

template <class T>
void column_basis<T>::enlarge(execution_options& options, const column_cycle_places& at) {
    options.unroll = 1; // a trip is a whole cycle
    options.largest_batch = std::max(options.largest_batch, static_cast<int>(at.largest_batch()));
    options.array_size = at.size();
}

template <class T>
void column_basis<T>::dots(execution& run, int count, const vector<T>* w) {
    const trace_range range("reduction");
    run.open({});
    run.publish_array(static_cast<int>(at_.batch()), at_.k * at_.values(count - 1));
    run_pass(run, basis_pass::dots, count, w, nullptr);
    run.close();
}

template <class T>
void column_basis<T>::update(execution& run, int count, const vector<T>& w, vector<T>* p) {
    run.open({});
    run_pass(run, basis_pass::update, count, &w, p);
    run.close();
}

template <class T>
void column_basis<T>::step(execution& run, int j, const scalar& running) {
    const std::uint8_t number[] = {running.number()};
    std::uint8_t slot[] = {0};
    run.open(number, slot);
    for (const int rank : run.comm().local())
        launch(run.comm()[rank], run.at(rank), cycle_task{at_, j, slot[0]});
    run.close();
}

template <class T>
void column_basis<T>::add_to(execution& run, vector<T>& x) {
    run.open({});
    for (const int rank : run.comm().local())
        launch(run.comm()[rank], run.at(rank), cycle_task{at_, cycle_task::solution(at_), 0});
    run.close();
    run.open({});
    run_pass(run, basis_pass::combine, at_.m, nullptr, &x);
    run.close();
}

template <class T>
void column_basis<T>::run_pass(execution& run, basis_pass pass, int count, const vector<T>* w,
                               vector<T>* to) {
    for (const int rank : run.comm().local()) {
        column_basis_arguments<T> a{};
        a.at = at_;
        a.rows = a_.rows(rank);
        a.basis = v_.table(rank);
        a.count = count;
        a.w = w != nullptr ? w->data(rank) : nullptr;
        a.to = to != nullptr ? to->data(rank) : nullptr;
        a.inverse_diagonal = a_.inverse_diagonal(rank);
        a.reduce = run.partials(rank);
        a.common = run.at(rank);
        launch(run.comm()[rank], pass, a);
    }
}

#define KRYLITH_INSTANTIATE(T) template class column_basis<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
