// A program that says `using namespace krylith` calls functions of C, POSIX and the mathematics
// library by their names: where krylith has a type or an object of such a name, this file doesn't
// compile.
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <search.h>
#include <semaphore.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <krylith/adapters/csr_arrays.hpp>
#include <krylith/krylith.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/own_preconditioner.hpp>
#include <krylith/solvers/column_solver.hpp>
#include <krylith/spmv/matrix_free.hpp>

namespace stranger {

using namespace krylith; // NOLINT(google-build-using-namespace): so do users
using namespace std;     // NOLINT(google-build-using-namespace): and this

namespace {

template <class... Functions>
int all_found(Functions... functions) {
    return (0 + ... + (functions != nullptr ? 1 : 0));
}

} // namespace

TEST_CASE("names: C's and POSIX's functions are found beside krylith's") {
    CHECK(all_found(&signal, &raise, &kill, &alarm, &pause, &sigaction, &abort, &exit, &atexit) ==
          9);
    CHECK(all_found(&link, &unlink, &read, &write, &close, &dup, &fork, &access, &chdir, &sleep,
                    &nice, &sync, &truncate, &swab, &brk) == 15);
    CHECK(all_found(&ffs, &strcasecmp, &strdup, &memcpy) == 4);
    const char* const text = "ab";
    CHECK(index(text, 'b') == rindex(text, 'b'));
    CHECK(all_found(&select, &send, &recv, &listen, &accept, &poll, &readv, &shutdown) == 8);
    CHECK(all_found(&wait, &waitpid, &times, &time, &clock, &stat, &fstat, &umask, &mkdir) == 9);
    CHECK(all_found(&j0, &j1, &jn, &y0, &y1, &yn, &gamma, &drem, &scalb) == 9);
    CHECK(all_found(&insque, &remque, &hcreate, &tfind, &twalk, &lfind) == 6);
    CHECK(all_found(&mmap, &getrlimit, &sched_yield, &sem_wait, &pthread_create, &creat) == 6);
}

TEST_CASE("names: those of krylith are found beside std's") {
    const auto group = device_group::host(1);
    const auto a = make_operator(group, csr_matrix<double>{1, 1, {0, 1}, {0}, {2.0}});
    distributed_vector<double> b = a->make_range_vector();
    distributed_vector<double> x = a->make_domain_vector();
    b.upload(std::vector<double>{4});
    CHECK(cg(*a, b, x).converged());
}

} // namespace stranger
