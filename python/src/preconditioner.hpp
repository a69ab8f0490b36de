// Preconditioners that operators keep, or that Python holds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <krylith/precond/amg.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>

namespace krylith::python {

/// What preconditioners are made of beside the operator: the matrix in host memory, or its rows on
/// the devices, or neither.
template <class T>
struct matrix_entries {
    const csr_view<T>* matrix = nullptr;
    std::span<const csr_part<T>> parts;
};

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

    void make(const matrix_operator<T>& a, const matrix_entries<T>& of) {
        of_parts.reset();
        if (of.matrix != nullptr) {
            m = make_preconditioner<T>(text, a, *of.matrix, nodes());
        } else if (!of.parts.empty() &&
                   parse_preconditioner(text).method == &preconditioner_rows::multigrid) {
            amg_options options = amg_options_of(text);
            if (options.block_size == 1) options.block_size = block_size;
            options.near_null = near_null;
            of_parts = std::make_unique<amg<T>>(a, of.parts, options);
            m = any_preconditioner<T>(std::ref(*of_parts));
        } else {
            m = make_preconditioner<T>(text, a);
        }
    }

    /// Makes it suit the values of that number: in place where it can do that.
    void refresh(const matrix_operator<T>& a, const matrix_entries<T>& of, std::uint64_t number) {
        if (values == number || m.is_identity()) return;
        try {
            if (of_parts)
                of_parts->update(of.parts);
            else
                of.matrix != nullptr ? m.update(*of.matrix) : m.update(a);
        } catch (const usage_error&) {
            if (text.empty()) throw;
            make(a, of);
        }
        values = number;
    }

private:
    std::unique_ptr<amg<T>> of_parts; ///< which m refers to; null: m is made otherwise
};

} // namespace krylith::python
