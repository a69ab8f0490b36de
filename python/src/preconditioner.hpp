// Preconditioners that operators keep, or that Python holds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <krylith/precond/any_preconditioner.hpp>

namespace krylith::python {

/// A preconditioner made by its name, or of given levels.
template <class T>
struct named_preconditioner {
    std::string text; ///< empty: nothing makes it anew
    int block_size = 1;
    std::vector<double> near_null;
    any_preconditioner<T> m;
    std::uint64_t values = 0; ///< the number of the operator's values that it was made for

    [[nodiscard]] matrix_nodes nodes() const {
        return {.block_size = block_size, .near_null = near_null};
    }

    void make(const matrix_operator<T>& a, const csr_view<T>* matrix) {
        m = matrix == nullptr ? make_preconditioner<T>(text, a)
                              : make_preconditioner<T>(text, a, *matrix, nodes());
    }

    /// Makes it suit the values of that number: in place where it can do that.
    void refresh(const matrix_operator<T>& a, const csr_view<T>* matrix, std::uint64_t number) {
        if (values == number || m.is_identity()) return;
        try {
            matrix == nullptr ? m.update(a) : m.update(*matrix);
        } catch (const usage_error&) {
            if (text.empty()) throw;
            make(a, matrix);
        }
        values = number;
    }
};

} // namespace krylith::python
