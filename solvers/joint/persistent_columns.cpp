#include <krylith/solvers/joint/persistent_columns.hpp>

#include <string>

#include <krylith/config.hpp>

namespace krylith {

std::string no_persistent_columns_because(const communicator& comm,
                                          [[maybe_unused]] std::int64_t rows,
                                          [[maybe_unused]] int columns) {
    if (comm.kind() != backend::cuda) return "it needs a CUDA device";
    if (comm.ranks() != 1) return "it needs one device alone";
#if KRYLITH_HAVE_CUDA
    const std::int64_t most = cuda::persistent_column_rows(comm[0], columns);
    if (rows > most)
        return "there are " + std::to_string(rows) + " rows, multiprocessors hold " +
               std::to_string(most) + " with " + std::to_string(columns) + " columns";
#endif
    return {};
}

template <class T>
persistent_columns<T>::persistent_columns(const communicator& comm, std::int64_t rows, int columns)
    : pairs_(comm.handle(0), static_cast<std::size_t>(2 * rows * columns), "vectors"),
      slots_(comm.handle(0), static_cast<std::size_t>(4 * columns * most_column_blocks), "vectors"),
      last_epoch_(comm.handle(0), 1, "vectors") {
    slots_.zero();
    last_epoch_.zero();
}

template <class T>
void persistent_columns<T>::enqueue(execution& run, const column_operands<T>& operands,
                                    bool preconditioned, std::int64_t iterations) {
    run.unguarded([&] {
        run.open({});
#if KRYLITH_HAVE_CUDA
        persistent_column_operands<T> a{};
        static_cast<column_operands<T>&>(a) = operands;
        a.pairs = pairs_.data();
        a.slots = slots_.data();
        a.last_epoch = last_epoch_.data();
        a.iterations = iterations;
        a.preconditioned = preconditioned;
        cuda::iterate_columns(run.comm()[0], run.at(0), a);
#else
        (void)operands;
        (void)preconditioned;
        (void)iterations;
#endif
        run.close();
    });
}

#define KRYLITH_INSTANTIATE(T) template class persistent_columns<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
