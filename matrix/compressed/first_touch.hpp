// Large arrays whose pages the kernel hands out in parallel.
//
// A vector's resize touches fresh pages from one thread, at 1 to 2 GB/s; for a matrix of some GB
// that takes longer than computing it. Touched by all threads, and in huge pages where the system
// allows them, the same memory comes several times faster, and lies on the NUMA nodes of the
// threads whose parts of a static loop over it they are.
#pragma once

#include <cstddef>
#include <vector>

namespace krylith {

/// Makes the kernel provide the pages in [begin, begin + bytes), which must be allocated and hold
/// nothing: a byte of each page is overwritten.
void touch_pages(void* begin, std::size_t bytes);

/// resize(n) of an empty vector.
template <class T>
void resize_in_parallel(std::vector<T>& empty, std::size_t n) {
    empty.reserve(n);
    touch_pages(empty.data(), n * sizeof(T));
    empty.resize(n);
}

} // namespace krylith
