// The text of multiply() of spmspv/product.hpp, step by step: for the library's semirings, which
// product.cpp instantiates, and for those of users (semirings/own_semiring.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/spmspv/product.hpp>

namespace krylith::spmspv {

/// Throws usage_error.
[[noreturn]] void refuse_product(const std::string& why);

template <class T>
std::string scalar_text(T value) {
    return number_text(static_cast<double>(value)); // exact for std::int32_t, float and double
}

template <class T>
void check_product_vector(const char* name, const sparse_vector<T>& v, std::int64_t size,
                          const char* of_matrix, T absent, const krylith::device& device) {
    const std::string who = name;
    if (v.size() != size)
        refuse_product(who + " has " + std::to_string(v.size()) + " entries, must have " +
                       std::to_string(size) + ", as many as the matrix has " + of_matrix);
    if (v.absent() != absent)
        refuse_product(who + " was made with " + scalar_text(v.absent()) +
                       " for entries that are not there, the semiring has " + scalar_text(absent));
    if (&v.device() != &device) refuse_product(who + " lies on another device than the matrix");
}

template <class S, class M>
void check_product(kernel k, const csr_csc_pair<M>& a,
                   const sparse_vector<typename S::value_type>& x,
                   const sparse_vector<typename S::value_type>& y,
                   const product_options<typename S::value_type>& options) {
    const auto number = static_cast<int>(k);
    if (number >= kernel_count)
        refuse_product("the kernel is number " + std::to_string(number) + ", there are 0 to " +
                       std::to_string(kernel_count - 1));
    if (host_only<S> && a.device().kind() != backend::host)
        refuse_product(std::string("the matrix is on ") + a.device().description() +
                       ", must be on the host with semiring " + S::name +
                       ", which has no kernels for CUDA");
    if (&x == &y) refuse_product("x and y are the same vector");
    check_product_vector("x", x, a.columns(), "columns", S::absent(), a.device());
    check_product_vector("y", y, a.rows(), "rows", S::absent(), a.device());
    if (!scales<S> && (options.alpha != 1 || options.beta != 0))
        refuse_product("alpha is " + scalar_text(options.alpha) + " and beta " +
                       scalar_text(options.beta) + ", must be 1 and 0 with semiring " + S::name);
    if (options.beta == 0) return;
    if (options.wanted == vector_form::pairs)
        refuse_product("beta is " + scalar_text(options.beta) +
                       ", must be 0 where y is wanted as pairs");
    if (options.skip_rows != nullptr)
        refuse_product("beta is " + scalar_text(options.beta) +
                       ", must be 0 where rows are skipped");
}

/// Makes the forms of x available that the kernel reads.
template <class S>
void require_forms(direction p, sparse_vector<typename S::value_type>& x) {
    if (p == direction::push) return x.require(vector_form::pairs);
    if (p == direction::pull) x.require(vector_form::bits);
    // A kernel of direction dense reads in the values which entries exist.
    if (p == direction::dense || S::reads_vector) x.require(vector_form::dense);
}

/// Returns y's arrays, prepared as the kernel needs them.
template <class T>
vector_arrays<T> overwrite_result(kernel k, bool pairs, sparse_vector<T>& y) {
    if (!pairs || direction_of(k) != direction::push) return y.overwrite();
    if (write_back_of(k) == write_back::sort) return y.overwrite_pairs();
    return y.overwrite(vector_form::dense | vector_form::bits);
}

template <class T>
void say_what_it_holds(kernel k, bool pairs, T beta, sparse_vector<T>& y) {
    if (direction_of(k) == direction::dense) return y.holds(vector_form::dense, true);
    if (direction_of(k) == direction::pull) {
        y.holds(vector_form::dense | vector_form::bits, true);
        if (beta != 0) y.drop(vector_form::bits); // bits would be those of A x alone
    } else if (!pairs) {
        y.holds(vector_form::dense, true);
    } else if (write_back_of(k) == write_back::sort) {
        y.holds(vector_form::pairs, true);
    } else {
        y.holds(vector_form::pairs | vector_form::dense | vector_form::bits, false);
    }
}

/// Makes the form of y available that is wanted; bits count as dense.
template <class T>
void require_wanted(vector_form wanted, sparse_vector<T>& y) {
    y.require(wanted == vector_form::pairs ? vector_form::pairs : vector_form::dense);
}

template <class S, class M>
void multiply(kernel k, const csr_csc_pair<M>& a, sparse_vector<typename S::value_type>& x,
              sparse_vector<typename S::value_type>& y, product_scratch& scratch,
              const product_options<typename S::value_type>& options,
              std::int64_t frontier_nonzeros) {
    static_assert(semiring<S>, "spmspv/semiring.hpp has what a semiring needs");
    using T = typename S::value_type;
    check_product<S>(k, a, x, y, options);
    if (&scratch.device() != &a.device())
        refuse_product("the scratch memory lies on another device than the matrix");
    require_forms<S>(direction_of(k), x);
    if (options.beta != 0) y.require(vector_form::dense);
    const bool column = direction_of(k) == direction::push;
    if (frontier_nonzeros < 0 && column && write_back_of(k) == write_back::sort)
        frontier_nonzeros = count_frontier_nonzeros(a, x);
    frontier_nonzeros = std::min(
        frontier_nonzeros, a.nonzeros()); // a bound may exceed them; kernels take 32-bit numbers

    product_arguments<S, M> arguments = {};
    arguments.rows = a.by_rows();
    arguments.columns = a.by_columns();
    arguments.x = x.arrays();
    arguments.alpha = options.alpha;
    arguments.beta = options.beta;
    arguments.skip_rows = options.skip_rows;
    arguments.pairs = column && options.wanted == vector_form::pairs;
    arguments.chunks = a.chunks();
    arguments.entries = x.known_count().value_or(x.size());
    arguments.frontier_nonzeros = frontier_nonzeros;
    arguments.scratch = scratch.at_least(KRYLITH_ON(
        a.device(), kernel_scratch_bytes<T>(a.device(), k, arguments.entries,
                                            std::max<std::int64_t>(frontier_nonzeros, 0))));
    arguments.y = overwrite_result(k, arguments.pairs, y);
    if constexpr (host_only<S>)
        host::multiply(a.device(), k, arguments);
    else
        KRYLITH_ON(a.device(), multiply(a.device(), k, arguments));
    say_what_it_holds(k, arguments.pairs, options.beta, y);
    if (!options.as_it_comes) require_wanted(options.wanted, y);
}

} // namespace krylith::spmspv
