#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/device/language/instances.hpp>
#include <krylith/spmv/streaming/streamed_kernels.hpp>

namespace krylith::cuda {

namespace {

/// body(i) for 0 <= i < count, a thread each.
template <class Body>
__global__ void __launch_bounds__(block_threads)
    each_kernel(const __grid_constant__ Body body, std::int64_t count) {
    for (std::int64_t i = first_item(); i < count; i += item_stride()) body(i);
}

template <class Body>
void each(device& device, const Body& body, std::int64_t count) {
    launch_over(device, count, each_kernel<Body>, body, count);
}

/// The first of `count` ascending numbers that isn't below `wanted`.
__device__ inline std::int32_t first_at_least(const std::int32_t* from, std::int32_t count,
                                              std::int64_t wanted) {
    std::int32_t low = 0;
    std::int32_t high = count;
    while (low < high) {
        const std::int32_t middle = low + (high - low) / 2;
        if (from[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct part_pointer {
    const std::int64_t* offsets;
    std::int64_t start;
    std::int64_t end;
    std::int32_t* to;
    __device__ void operator()(std::int64_t i) const {
        to[i] = static_cast<std::int32_t>(range_offset(offsets[i], start, end));
    }
};

struct sorted_pointer {
    const std::int32_t* major_of;
    std::int32_t entries;
    std::int64_t first_major;
    std::int32_t* to;
    __device__ void operator()(std::int64_t i) const {
        to[i] = first_at_least(major_of, entries, first_major + i);
    }
};

struct entry_major {
    const std::int32_t* pointers;
    std::int32_t major_size;
    std::int32_t first_major;
    std::int32_t* to;
    __device__ void operator()(std::int64_t k) const {
        to[k] = first_major + first_at_least(pointers + 1, major_size, k + 1);
    }
};

struct own_number {
    std::int32_t* to;
    __device__ void operator()(std::int64_t k) const { to[k] = static_cast<std::int32_t>(k); }
};

template <class T>
struct one {
    T* to;
    __device__ void operator()(std::int64_t k) const { to[k] = T(1); }
};

template <class T>
struct entry_product {
    const T* values;
    const std::int32_t* columns;
    const T* x;
    T* to;
    __device__ void operator()(std::int64_t k) const {
        to[k] = __ldcs(values + k) * x[__ldcs(columns + k)];
    }
};

template <class T>
__device__ inline void store(T& y, T sum, T alpha, T beta) {
    T result = alpha * sum;
    if (beta != T(0)) result += beta * y;
    y = result;
}

template <class T>
struct row_result {
    const T* sums;
    streamed_terms<T> terms;
    std::int64_t last;
    T alpha, beta;
    T* y;
    __device__ void operator()(std::int64_t i) const {
        T sum = sums[i];
        if (i == last)
            for (int k = 0; k < terms.count; ++k) sum += *terms.of[k];
        store(y[i], sum, alpha, beta);
    }
};

template <class T>
struct range_result {
    streamed_terms<T> terms;
    T alpha, beta;
    T* y;
    __device__ void operator()(std::int64_t i) const {
        T sum = terms.of[0][i];
        for (int k = 1; k < terms.count; ++k) sum += terms.of[k][i];
        store(y[i], sum, alpha, beta);
    }
};

} // namespace

void part_pointers(device& device, const std::int64_t* offsets, const major_range& range,
                   std::int32_t* to) {
    each(device, part_pointer{offsets, range.start_idx, range.end_idx, to}, range.majors() + 1);
}

void pointers_of_sorted(device& device, const std::int32_t* major_of, std::int32_t entries,
                        std::int32_t first_major, std::int32_t major_size, std::int32_t* to) {
    each(device, sorted_pointer{major_of, entries, first_major, to}, std::int64_t{major_size} + 1);
}

void majors_of_pointers(device& device, const std::int32_t* pointers, std::int32_t major_size,
                        std::int32_t entries, std::int32_t first_major, std::int32_t* major_of) {
    each(device, entry_major{pointers, major_size, first_major, major_of}, entries);
}

void number(device& device, std::int32_t* to, std::int32_t count) {
    each(device, own_number{to}, count);
}

template <class T>
void fill_ones(device& device, T* to, std::int32_t count) {
    each(device, one<T>{to}, count);
}

template <class T>
void entry_products(device& device, const T* values, const std::int32_t* columns, const T* x, T* to,
                    std::int32_t begin, std::int32_t end) {
    each(device, entry_product<T>{values + begin, columns + begin, x, to + begin}, end - begin);
}

template <class T>
void store_rows(device& device, const T* sums, const streamed_terms<T>& terms, std::int64_t count,
                T alpha, T beta, T* y) {
    each(device, row_result<T>{sums, terms, count - 1, alpha, beta, y}, count);
}

template <class T>
void store_range(device& device, const streamed_terms<T>& terms, std::int64_t count, T alpha,
                 T beta, T* y) {
    each(device, range_result<T>{terms, alpha, beta, y}, count);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct instances<fill_ones<T>, entry_products<T>, store_rows<T>, store_range<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
