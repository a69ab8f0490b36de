#include <krylith/distributed/source/cut_rows.hpp>
#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/spmv/building/build_operator.hpp>
#include <krylith/spmv/table/operators.hpp>

namespace krylith {

bool can_be_made_there(const communicator& comm, const operator_options& options) {
    return makes_operators_there(comm) && !options.measure &&
           (!options.kind || options.kind->needs_host_because.empty());
}

template <class T>
matrix_source<T> make_source(const communicator& comm, const csr_view<T>& matrix,
                             pattern_state state, std::optional<row_partition>& rows,
                             const operator_options& options) {
    if (!can_be_made_there(comm, options))
        return {matrix, state == pattern_state::valid ? find_longest_row(matrix.row_offsets)
                                                      : validate(matrix)};
    const auto& offsets = matrix.row_offsets;
    if (offsets.empty() || offsets.front() != 0 || offsets.back() < 0)
        (void)validate(matrix); // these can't be cut, and it says why
    if (options.kind && options.kind->deals) {
        const auto [first_descent, longest] = scan_offsets(offsets);
        if (first_descent == matrix.rows && can_be_cut(matrix, {{0, matrix.rows}}))
            return {matrix, longest}; // the devices will validate columns
        (void)validate(matrix);
    }
    if (!rows) rows = partition_rows(matrix, comm.ranks(), options.block_size);
    auto resident = upload_pattern(comm, matrix, *rows);
    matrix_source<T> source{matrix, resident->longest()};
    source.resident = std::move(resident);
    return source;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template matrix_source<T> make_source(const communicator&, const csr_view<T>&, pattern_state,  \
                                          std::optional<row_partition>&, const operator_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
