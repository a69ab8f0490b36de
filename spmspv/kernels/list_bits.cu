// The indices of set bits, ascending: a scan of the numbers of bits in words. The words are read
// twice, n / 4 bytes, and 4 bytes an entry are written; a warp writes the entries of a word at
// once. Two launches, or one where there are at most 65536 bits.
#include <krylith/device/loops/two_pass_scan.cuh>
#include <krylith/spmspv/kernels/vector_conversion.hpp>

namespace krylith::cuda {

namespace {

struct listed_word {
    std::int32_t size;
    std::uint32_t bits;
};

struct word_list {
    const std::uint32_t* bits;
    std::uint32_t words;
    std::int32_t* indices;
    std::int32_t* total;

    [[nodiscard]] __device__ std::uint32_t count() const { return words; }
    [[nodiscard]] __device__ listed_word load(std::uint32_t i) const {
        return {__popc(bits[i]), bits[i]};
    }
    __device__ void emit(bool there, std::uint32_t i, listed_word word, std::int32_t before) const {
        constexpr unsigned all = 0xffffffffu;
        const unsigned lane = threadIdx.x & 31;
        unsigned filled = __ballot_sync(all, there && word.size != 0);
        while (filled != 0) {
            const int source = __ffs(static_cast<int>(filled)) - 1;
            filled &= filled - 1;
            const std::uint32_t of = __shfl_sync(all, word.bits, source);
            const std::int32_t place = __shfl_sync(all, before, source);
            const std::uint32_t first = __shfl_sync(all, i, source) * 32;
            if ((of >> lane & 1) != 0)
                indices[place + __popc(of & ((1u << lane) - 1))] =
                    static_cast<std::int32_t>(first + lane);
        }
    }
    __device__ void finish(std::int32_t sum) const { *total = sum; }
};

} // namespace

template <class T>
void list_bits(device& device, const spmspv::vector_arrays<T>& v, void* scratch) {
    const std::int64_t words = v.words();
    scan(device, word_list{v.bits, static_cast<std::uint32_t>(words), v.indices, v.count}, words,
         scratch);
}

std::size_t list_scratch_bytes(std::int64_t) {
    return scan_scratch_bytes;
}

template void list_bits(device&, const spmspv::vector_arrays<std::int32_t>&, void*);
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void list_bits(device&, const spmspv::vector_arrays<T>&, void*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
