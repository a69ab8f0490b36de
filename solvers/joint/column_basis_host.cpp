#include <algorithm>
#include <type_traits>
#include <utility>

#include <krylith/device/host/host_device.hpp>
#include <krylith/solvers/joint/column_basis.hpp>
#include <krylith/sparse/csr/column_counts.hpp>
#include <krylith/vector/execution/host_context.hpp>
#include <krylith/vector/kernels/array_task.hpp>
#include <krylith/vector/kernels/host_chunks.hpp>

namespace krylith::host {

namespace {

/// Entries of u, w and a group of vectors that stay near the core: as in delayed_basis_host.cpp.
template <class T, int K>
constexpr std::int64_t tile = 2 * tile_size<T> / K; // rows
constexpr int ahead = 512;

/// Entries that are computed together: whole rows.
template <int K>
constexpr int lanes = std::max(K, 8);

/// The number of basis vectors in one pass: u and w are loaded once for all of them.
constexpr int group = 4;

/// Computes out[j stride] += the dot product with v of column j, for n entries of w and v. Products
/// are summed in double, in `lanes` partial sums, so that the result does not depend on how the
/// compiler vectorises the loop. `Ahead` is the distance at which v is prefetched; 0: it is in the
/// cache.
template <int K, int Ahead, class T, class... Vectors>
void add_column_dots(double* const* out, std::int64_t stride, std::int64_t n, const T* w,
                     const Vectors*... v) {
    constexpr int count = sizeof...(Vectors);
    const T* const others[count] = {v...};
    double sums[count][lanes<K>] = {};
    const std::int64_t whole = n / lanes<K> * lanes<K>;
    for (std::int64_t i = 0; i < whole; i += lanes<K>)
        for (int j = 0; j < count; ++j) {
            if constexpr (Ahead != 0) __builtin_prefetch(others[j] + i + Ahead, 0, 2);
#pragma omp simd
            for (int l = 0; l < lanes<K>; ++l)
                sums[j][l] += column_term(w[i + l], others[j][i + l]);
        }
    for (int j = 0; j < count; ++j) {
        for (std::int64_t i = whole; i < n; ++i)
            sums[j][i - whole] += column_term(w[i], others[j][i]);
        for (int l = 0; l < lanes<K>; ++l) out[j][l % K * stride] += sums[j][l];
    }
}

/// Computes V'u, V'w and w'w of the n entries from `first` on; the second finds V in the cache.
/// Value v of the batch goes to sums[v stride].
template <int K, class T>
void add_dots(const column_basis_operands<T>& a, std::int64_t first, std::int64_t n, double* sums,
              std::int64_t stride) {
    const std::int64_t distance = a.at.values(a.count - 1) * stride; // of columns
    const auto sum = [&](int value) { return sums + value * stride; };
    const auto v = [&](int j) -> const T* { return a.basis[j] + first; };
    const T* const u = v(a.count - 1);
    const T* const w = a.w != nullptr ? a.w + first : nullptr;
    int j = 0;
    for (; j + group <= a.count; j += group) {
        double* const of_u[group] = {sum(j), sum(j + 1), sum(j + 2), sum(j + 3)};
        add_column_dots<K, ahead>(of_u, distance, n, u, v(j), v(j + 1), v(j + 2), v(j + 3));
        if (w == nullptr) continue;
        const int at = a.count + j;
        double* const of_w[group] = {sum(at), sum(at + 1), sum(at + 2), sum(at + 3)};
        add_column_dots<K, 0>(of_w, distance, n, w, v(j), v(j + 1), v(j + 2), v(j + 3));
    }
    const auto add = [&](int value, const T* from, const T* with) {
        double* const place = sum(value);
        add_column_dots<K, 0>(&place, distance, n, from, with);
    };
    for (; j < a.count; ++j) {
        add(j, u, v(j));
        if (w != nullptr) add(a.count + j, w, v(j));
    }
    if (w != nullptr) add(2 * a.count, w, w);
}

/// The coefficients of one basis vector, lane by lane.
template <class T, int K>
struct lane_values {
    T of[lanes<K>];

    /// Those of column c lie at from + c distance.
    lane_values(const double* from, std::int64_t distance) {
        for (int l = 0; l < lanes<K>; ++l) of[l] = static_cast<T>(from[l % K * distance]);
    }
};

/// Calls body(i, count) for the entries [begin, end): `count` of them from i on, which are whole
/// rows.
template <int K, class Body>
void for_lanes(std::int64_t begin, std::int64_t end, const Body& body) {
    std::int64_t i = begin;
    for (; i + lanes<K> <= end; i += lanes<K>) body(i, std::integral_constant<int, lanes<K>>());
    if (i < end) body(i, static_cast<int>(end - i));
}

/// Computes u -= s_k v_k and next -= t_k v_k for some vectors from j on.
template <int K, class T, int... Term>
void subtract(const column_basis_operands<T>& a, const double* batch, int j, std::int64_t begin,
              std::int64_t end, std::integer_sequence<int, Term...> /*terms*/) {
    const int values = a.at.values(a.count - 1);
    T* const u = a.basis[a.count - 1];
    T* const next = a.basis[a.count];
    const T* const v[] = {a.basis[j + Term]...};
    const lane_values<T, K> of_u[] = {{batch + j + Term, values}...};
    const lane_values<T, K> of_w[] = {{batch + a.count + j + Term, values}...};
    for_lanes<K>(begin, end, [&](std::int64_t i, auto count) {
#pragma omp simd
        for (int l = 0; l < count; ++l) {
            u[i + l] = (u[i + l] - ... - (of_u[Term].of[l] * v[Term][i + l]));
            next[i + l] = (next[i + l] - ... - (of_w[Term].of[l] * v[Term][i + l]));
        }
    });
}

template <int K, class T>
void update(const column_basis_operands<T>& a, const double* array, std::int64_t begin,
            std::int64_t end) {
    const double* const batch = array + a.at.batch();
    const int before = a.count - 1;
    const int values = a.at.values(before);
    T* const u = a.basis[before];
    T* const next = a.basis[a.count];
    std::copy(a.w + begin, a.w + end, next + begin);
    int j = 0;
    for (; j + group <= before; j += group)
        subtract<K>(a, batch, j, begin, end, std::make_integer_sequence<int, group>());
    for (; j < before; ++j)
        subtract<K>(a, batch, j, begin, end, std::make_integer_sequence<int, 1>());
    const lane_values<T, K> inverse(batch + before, values);
    const lane_values<T, K> along(batch + a.count + before, values);
    const lane_values<T, K> scale(batch + 2 * a.count, values);
    for_lanes<K>(begin, end, [&](std::int64_t i, auto count) {
#pragma omp simd
        for (int l = 0; l < count; ++l) {
            // A column that has stopped leaves zeros, whatever it held.
            const bool moves = inverse.of[l] != T(0) || scale.of[l] != T(0);
            const T ended = moves ? inverse.of[l] * u[i + l] : T(0);
            u[i + l] = ended;
            next[i + l] = moves ? scale.of[l] * (next[i + l] - along.of[l] * ended) : T(0);
        }
    });
    if (a.to == nullptr) return;
    if (a.inverse_diagonal == nullptr) {
        std::copy(next + begin, next + end, a.to + begin);
        return;
    }
    const lane_values<T, K> factor(array + a.at.columns().inverse_factor(), 1);
    for (std::int64_t i = begin; i < end; i += K)
#pragma omp simd
        for (int c = 0; c < K; ++c)
            a.to[i + c] = factor.of[c] * a.inverse_diagonal[i / K] * next[i + c];
}

/// Computes x += M^-1 V y, with as many vectors as a column has steps.
template <int K, class T>
void combine(const column_basis_operands<T>& a, const double* array, std::int64_t begin,
             std::int64_t end) {
    const double* const steps = array + a.at.columns().own(column_cycle_places::steps);
    const auto most = static_cast<int>(*std::max_element(steps, steps + K));
    double sums[2 * tile_size<T>] = {};
    for (int k = 0; k < most; ++k) {
        const T* const v = a.basis[k] + begin;
        double y[lanes<K>]; // negative
        bool there[lanes<K>];
        for (int l = 0; l < lanes<K>; ++l) {
            there[l] = k < static_cast<int>(steps[l % K]);
            y[l] = array[a.at.solution(l % K) + k];
        }
        for_lanes<K>(0, end - begin, [&](std::int64_t i, auto count) {
#pragma omp simd
            for (int l = 0; l < count; ++l)
                sums[i + l] -= there[l] ? y[l] * static_cast<double>(v[i + l]) : 0.0;
        });
    }
    for (std::int64_t i = begin; i < end; ++i) {
        const T d = a.inverse_diagonal != nullptr ? a.inverse_diagonal[i / K] : T(1);
        a.to[i] +=
            a.inverse_factor(array, static_cast<int>(i % K)) * d * static_cast<T>(sums[i - begin]);
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
              [&](std::int64_t chunk, std::int64_t first_row, std::int64_t end_row) {
                  const std::int64_t begin = first_row * K;
                  const std::int64_t end = end_row * K;
                  switch (pass) {
                  case basis_pass::dots:
                      return add_dots<K>(a, begin, end - begin, a.reduce.partials + chunk,
                                         chunks.count);
                  case basis_pass::update: return update<K>(a, array, begin, end);
                  case basis_pass::combine: return combine<K>(a, array, begin, end);
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

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void run_basis_pass(device&, basis_pass, const column_basis_arguments<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
