// A scope with another number of OpenMP threads.
#pragma once

#include <omp.h>

namespace krylith::test {

/// Sets the number of threads, also above the number of cores: what depends on it or on order
/// shows.
class thread_count {
public:
    explicit thread_count(int threads) : before_(omp_get_max_threads()) {
        omp_set_num_threads(threads);
    }
    ~thread_count() { omp_set_num_threads(before_); }
    thread_count(const thread_count&) = delete;
    thread_count& operator=(const thread_count&) = delete;

private:
    int before_;
};

} // namespace krylith::test
