#include <krylith/spmspv/product.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/device/messages/number_text.hpp>

namespace krylith::spmspv {

std::byte* product_scratch::at_least(std::size_t bytes) {
    if (bytes > memory_.size()) {
        const std::size_t grown = std::max(bytes, memory_.size() + memory_.size() / 2);
        memory_ = {}; // freed before the allocation: not both at once
        memory_ = {device_, grown, "sparse products"};
    }
    return memory_.data();
}

namespace {

[[noreturn]] void refuse(const std::string& why) {
    throw usage_error("sparse product: " + why);
}

template <class T>
std::string text_of(T value) {
    return number_text(static_cast<double>(value)); // exact for std::int32_t, float and double
}

template <class T>
void check_vector(const char* name, const sparse_vector<T>& v, std::int64_t size,
                  const char* of_matrix, T absent, const krylith::device& device) {
    const std::string who = name;
    if (v.size() != size)
        refuse(who + " has " + std::to_string(v.size()) + " entries, must have " +
               std::to_string(size) + ", as many as the matrix has " + of_matrix);
    if (v.absent() != absent)
        refuse(who + " was made with " + text_of(v.absent()) +
               " for entries that are not there, the semiring has " + text_of(absent));
    if (&v.device() != &device) refuse(who + " lies on another device than the matrix");
}

template <class S, class M>
void check(kernel k, const csr_csc_pair<M>& a, const sparse_vector<typename S::value_type>& x,
           const sparse_vector<typename S::value_type>& y,
           const product_options<typename S::value_type>& options) {
    const auto number = static_cast<int>(k);
    if (number >= kernel_count)
        refuse("the kernel is number " + std::to_string(number) + ", there are 0 to " +
               std::to_string(kernel_count - 1));
    if (&x == &y) refuse("x and y are the same vector");
    check_vector("x", x, a.columns(), "columns", S::absent(), a.device());
    check_vector("y", y, a.rows(), "rows", S::absent(), a.device());
    if (!scales<S> && (options.alpha != 1 || options.beta != 0))
        refuse("alpha is " + text_of(options.alpha) + " and beta " + text_of(options.beta) +
               ", must be 1 and 0 with semiring " + S::name);
    if (options.beta == 0) return;
    if (options.wanted == vector_form::pairs)
        refuse("beta is " + text_of(options.beta) + ", must be 0 where y is wanted as pairs");
    if (options.skip_rows != nullptr)
        refuse("beta is " + text_of(options.beta) + ", must be 0 where rows are skipped");
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
vector_arrays<T> overwrite(kernel k, bool pairs, sparse_vector<T>& y) {
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

} // namespace

template <class M, class T>
std::int64_t count_frontier_nonzeros(const csr_csc_pair<M>& a, sparse_vector<T>& x) {
    if (x.size() != a.columns())
        refuse("x has " + std::to_string(x.size()) + " entries, must have " +
               std::to_string(a.columns()) + ", as many as the matrix has columns");
    if (&x.device() != &a.device()) refuse("x lies on another device than the matrix");
    if (x.known_count() == 0) return 0;
    const bool pairs = x.forms().has(vector_form::pairs);
    if (!pairs) x.require(vector_form::bits);
    return KRYLITH_ON(a.device(),
                      count_frontier_nonzeros(a.device(), a.by_columns(), x.arrays(), pairs));
}

template <class S, class M>
void multiply(kernel k, const csr_csc_pair<M>& a, sparse_vector<typename S::value_type>& x,
              sparse_vector<typename S::value_type>& y, product_scratch& scratch,
              const product_options<typename S::value_type>& options,
              std::int64_t frontier_nonzeros) {
    using T = typename S::value_type;
    check<S>(k, a, x, y, options);
    if (&scratch.device() != &a.device())
        refuse("the scratch memory lies on another device than the matrix");
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
    arguments.y = overwrite(k, arguments.pairs, y);
    KRYLITH_ON(a.device(), multiply(a.device(), k, arguments));
    say_what_it_holds(k, arguments.pairs, options.beta, y);
    if (!options.as_it_comes)
        y.require(options.wanted == vector_form::pairs ? vector_form::pairs : vector_form::dense);
}

#define KRYLITH_INSTANTIATE(S, M)                                                                  \
    template void multiply<S, M>(kernel, const csr_csc_pair<M>&, sparse_vector<S::value_type>&,    \
                                 sparse_vector<S::value_type>&, product_scratch&,                  \
                                 const product_options<S::value_type>&, std::int64_t);
KRYLITH_FOR_PRODUCTS(KRYLITH_INSTANTIATE)
#undef KRYLITH_INSTANTIATE

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::int64_t count_frontier_nonzeros(const csr_csc_pair<double>&, sparse_vector<T>&); \
    template std::int64_t count_frontier_nonzeros(const csr_csc_pair<T>&,                          \
                                                  sparse_vector<std::int32_t>&);                   \
    template std::int64_t count_frontier_nonzeros(const csr_csc_pair<float>&, sparse_vector<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::spmspv
