// Large arrays whose pages the kernel hands out in parallel.
//
// A vector's resize touches fresh pages from one thread, at 1 to 2 GB/s; for a matrix of some GB
// that takes longer than computing it. When all threads touch the memory, in huge pages where the
// system allows them, it comes several times faster, and each page lies on the NUMA node of the
// thread that gets it in a static loop.
#pragma once

#include <cstddef>
#include <vector>

namespace krylith {

/// Makes the kernel provide the pages in [begin, begin + bytes), which must be allocated and hold
/// nothing: a byte of each page is overwritten.
void touch_pages(void* begin, std::size_t bytes);

/// Resizes an empty vector to n entries.
template <class T>
void resize_in_parallel(std::vector<T>& empty, std::size_t n) {
    empty.reserve(n);
    touch_pages(empty.data(), n * sizeof(T));
    empty.resize(n);
}

} // namespace krylith
