#include <krylith/precond/any_preconditioner.hpp>

#include <string>

#include <krylith/device/error.hpp>
#include <krylith/precond/coarsening/node_rows.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>

namespace krylith {

void matrix_nodes::check(std::int64_t rows) const {
    constexpr int most = aggregation::most_of_node;
    if (block_size < 1 || block_size > most || rows % block_size != 0)
        throw usage_error("matrix_nodes::block_size is " + std::to_string(block_size) +
                          "; allowed are 1 to " + std::to_string(most) +
                          " that divide the number of rows, " + std::to_string(rows));
    const auto size = static_cast<std::int64_t>(near_null.size());
    if (size > rows * most || (rows == 0 ? size != 0 : size % rows != 0))
        throw usage_error("matrix_nodes::near_null has " + std::to_string(size) +
                          " entries; must be those of 1 to " + std::to_string(most) +
                          " vectors of " + std::to_string(rows) + " rows, or none");
}

template <class T>
any_preconditioner<T> make_preconditioner(std::string_view text, const matrix_operator<T>& a,
                                          const std::type_identity_t<matrix_ref<T>>& matrix,
                                          const matrix_nodes& nodes) {
    return a.comm().together([&]() -> any_preconditioner<T> {
        nodes.check(a.single().rows());
        const preconditioner_choice choice = parse_preconditioner(text);
        if (choice.method == nullptr) return {};
        return choice.method->template make_with<T>(a, &matrix, choice.parameters, nodes);
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template any_preconditioner<T> make_preconditioner(                                            \
        std::string_view, const matrix_operator<T>&, const matrix_ref<T>&, const matrix_nodes&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
