#include <algorithm>

#include <krylith/device/host/host_device.hpp>
#include <krylith/solvers/joint/column_basis.hpp>
#include <krylith/solvers/joint/column_count.hpp>
#include <krylith/vector/kernels/host_chunks.hpp>
#include <krylith/vector/scalar/array_tasks.hpp>
#include <krylith/vector/scalar/host_context.hpp>

namespace krylith::host {

namespace {

/// Rows of u, w and a vector that stay near the core: as in delayed_basis_host.cpp.
template <class T, int K>
constexpr std::int64_t tile = std::max<std::int64_t>(1, 2 * tile_size<T> / K);

/// The basis vectors whose sums, of K columns each, are kept in registers at once.
template <int K>
constexpr int at_once = 16 / K;

/// Adds the products of some basis vectors with u and, unless it is null, w in rows [begin, end).
/// The sums of a column lie `stride` apart: first those with u, then those with w.
template <int K, int Vectors, class T>
void add_products(const column_basis_operands<T>& a, int first, std::int64_t begin,
                  std::int64_t end, double* sums, std::int64_t stride) {
    const T* const u = a.basis[a.count - 1];
    const T* v[Vectors];
    for (int k = 0; k < Vectors; ++k) v[k] = a.basis[first + k];
    double of_u[Vectors][K] = {};
    double of_w[Vectors][K] = {};
    for (std::int64_t i = begin * K; i < end * K; i += K)
        for (int k = 0; k < Vectors; ++k)
            for (int c = 0; c < K; ++c) of_u[k][c] += column_term(v[k][i + c], u[i + c]);
    if (a.w != nullptr)
        for (std::int64_t i = begin * K; i < end * K; i += K)
            for (int k = 0; k < Vectors; ++k)
                for (int c = 0; c < K; ++c) of_w[k][c] += column_term(v[k][i + c], a.w[i + c]);
    const int values = a.at.values(a.count - 1);
    for (int k = 0; k < Vectors; ++k)
        for (int c = 0; c < K; ++c) {
            const int place = c * values + first + k;
            sums[place * stride] += of_u[k][c];
            if (a.w != nullptr) sums[(place + a.count) * stride] += of_w[k][c];
        }
}

template <int K, class T>
void add_dots(const column_basis_operands<T>& a, std::int64_t begin, std::int64_t end, double* sums,
              std::int64_t stride) {
    int first = 0;
    for (; first + at_once<K> <= a.count; first += at_once<K>)
        add_products<K, at_once<K>>(a, first, begin, end, sums, stride);
    for (; first < a.count; ++first) add_products<K, 1>(a, first, begin, end, sums, stride);
    if (a.w == nullptr) return;
    double squares[K] = {};
    for (std::int64_t i = begin * K; i < end * K; i += K)
        for (int c = 0; c < K; ++c) squares[c] += column_term(a.w[i + c], a.w[i + c]);
    const int values = a.at.values(a.count - 1);
    for (int c = 0; c < K; ++c) sums[(c * values + 2 * a.count) * stride] += squares[c];
}

/// What the update does with one column besides taking away components.
struct ending {
    double inverse;
    double along;
    double scale;

    /// Whether the column goes on, and not to vectors of zeros.
    [[nodiscard]] bool moves() const { return inverse != 0 || scale != 0; }
};

template <int K, class T>
void update_rows(const column_basis_operands<T>& a, const double* batch, std::int64_t begin,
                 std::int64_t end) {
    const int before = a.count - 1;
    const int values = a.at.values(before);
    T* const u = a.basis[before];
    T* const next = a.basis[a.count];
    std::copy(a.w + begin * K, a.w + end * K, next + begin * K);
    for (int k = 0; k < before; ++k) {
        T s[K];
        T t[K];
        for (int c = 0; c < K; ++c) {
            s[c] = static_cast<T>(batch[c * values + k]);
            t[c] = static_cast<T>(batch[c * values + a.count + k]);
        }
        const T* const v = a.basis[k];
        for (std::int64_t i = begin * K; i < end * K; i += K)
            for (int c = 0; c < K; ++c) {
                u[i + c] -= s[c] * v[i + c];
                next[i + c] -= t[c] * v[i + c];
            }
    }
    ending last[K];
    for (int c = 0; c < K; ++c) {
        const double* const own = batch + c * values;
        last[c] = {own[before], own[a.count + before], own[2 * a.count]};
    }
    for (std::int64_t row = begin; row < end; ++row) {
        const T d = a.inverse_diagonal != nullptr ? a.inverse_diagonal[row] : T(1);
        for (int c = 0; c < K; ++c) {
            const std::int64_t i = row * K + c;
            const ending& e = last[c];
            u[i] = e.moves() ? static_cast<T>(e.inverse) * u[i] : T(0);
            next[i] = e.moves()
                          ? static_cast<T>(e.scale) * (next[i] - static_cast<T>(e.along) * u[i])
                          : T(0);
            a.to[i] = d * next[i];
        }
    }
}

template <int K, class T>
void combine_rows(const column_basis_operands<T>& a, const double* array, std::int64_t begin,
                  std::int64_t end) {
    const double* const steps = array + a.at.columns().own(column_cycle_places::steps);
    for (std::int64_t row = begin; row < end; ++row) {
        const T d = a.inverse_diagonal != nullptr ? a.inverse_diagonal[row] : T(1);
        for (int c = 0; c < K; ++c) {
            const double* const y = array + a.at.solution(c); // negative
            const auto count = static_cast<int>(steps[c]);
            double sum = 0;
            for (int k = 0; k < count; ++k)
                sum -= y[k] * static_cast<double>(a.basis[k][row * K + c]);
            if (count > 0) a.to[row * K + c] += d * static_cast<T>(sum);
        }
    }
}

template <int K, class T>
void run_on_rows(basis_pass pass, const column_basis_arguments<T>& a, int threads) {
    const chunking chunks(a.rows);
    if (pass == basis_pass::dots)
        std::fill_n(a.reduce.partials, a.reduce.count * chunks.count, 0.0);
    const double* const array = a.common.array;
    // Sums of a chunk are added in the order of its rows.
    for_tiles(chunks, threads, tile<T, K>,
              [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
                  switch (pass) {
                  case basis_pass::dots:
                      return add_dots<K>(a, begin, end, a.reduce.partials + chunk, chunks.count);
                  case basis_pass::update:
                      return update_rows<K>(a, array + a.at.batch(), begin, end);
                  case basis_pass::combine: return combine_rows<K>(a, array, begin, end);
                  }
              });
    if (pass == basis_pass::dots) publish(a.common, a.reduce, chunks.count);
}

} // namespace

template <class T>
void run_basis_pass(device& device, basis_pass pass, const column_basis_arguments<T>& a) {
    auto& host = static_cast<host_device&>(device);
    host.submit([a, pass, threads = host.threads()] {
        registers reg;
        if (!kernel_prologue(a.common, reg)) return;
        with_columns(a.at.k, [&](auto k) { run_on_rows<decltype(k)::value>(pass, a, threads); });
    });
}

void run_cycle_task(device& device, const kernel_context& common, const cycle_task& task) {
    static_cast<host_device&>(device).submit([common, task] {
        registers reg;
        if (!kernel_prologue(common, reg)) return;
        int running = 0;
        for (int c = 0; c < task.at.k; ++c)
            running += perform(task, common.array, c, lone_thread{}) ? 1 : 0;
        if (!task.solves()) common.slots[task.slot] = running;
    });
}

template void run_basis_pass(device&, basis_pass, const column_basis_arguments<double>&);
template void run_basis_pass(device&, basis_pass, const column_basis_arguments<float>&);

} // namespace krylith::host
