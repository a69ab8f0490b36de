// Preconditioners that operators keep, or that Python holds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
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
    std::uint64_t values = 0;      ///< the number of the operator's values that it was made for
    const void* made_by = nullptr; ///< the operator, which alone may refresh it

    [[nodiscard]] matrix_nodes nodes() const {
        return {.block_size = block_size, .near_null = near_null};
    }

    /// `matrix` is null where nothing but the operator is known.
    void make(const matrix_operator<T>& a, const matrix_ref<T>* matrix) {
        m = matrix != nullptr ? make_preconditioner<T>(text, a, *matrix, nodes())
                              : make_preconditioner<T>(text, a);
    }

    /// Makes it suit the values of that number: in place where it can do that.
    void refresh(const matrix_operator<T>& a, const matrix_ref<T>* matrix, std::uint64_t number) {
        if (values == number || m.is_identity()) return;
        try {
            matrix != nullptr ? m.update(*matrix) : m.update(a);
        } catch (const usage_error&) {
            if (text.empty()) throw;
            make(a, matrix);
        }
        values = number;
    }
};

} // namespace krylith::python
