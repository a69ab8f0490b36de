// The semirings of products: y_i = add over the entries a_ij of row i with an x_j of term(a_ij,
// x_j, j), and `absent` where there is none. `absent` is the identity of add, and the value in
// dense arrays where a sparse vector has no entry.
//
// Adding is associative and commutative up to rounding. A semiring whose add is `exact` has the
// same results in any order; plus_times and plus_second have them only in a fixed order. A term of
// an x_j that is `absent` is `absent`, too, unless x isn't read.
//
// Semirings of users have the same members (semirings/own_semiring.hpp).
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith::spmspv {

/// What products ask of a semiring. plus_times says what the numbers mean.
template <class S>
concept semiring = requires(typename S::value_type a, std::int32_t column) {
    requires std::is_same_v<typename S::value_type, double> ||
        std::is_same_v<typename S::value_type, float> ||
        std::is_same_v<typename S::value_type, std::int32_t>;
    { S::name } -> std::convertible_to<const char*>;
    { S::exact } -> std::convertible_to<bool>;
    { S::reads_matrix } -> std::convertible_to<bool>;
    { S::reads_vector } -> std::convertible_to<bool>;
    { S::reads_columns } -> std::convertible_to<bool>;
    { S::first_suffices } -> std::convertible_to<bool>;
    { S::absent() } -> std::same_as<typename S::value_type>;
    { S::add(a, a) } -> std::same_as<typename S::value_type>;
    { S::term(a, a, column) } -> std::same_as<typename S::value_type>;
};

/// Whether a semiring says, by `static constexpr bool host_only = true`, that no kernels for CUDA
/// are compiled for it.
template <class S>
inline constexpr bool host_only = requires {
    requires S::host_only;
};

/// (+, x): numerical products.
template <class T>
struct plus_times {
    using value_type = T;
    static constexpr const char* name = "plus-times";
    static constexpr bool exact = false;
    static constexpr bool reads_matrix = true;   ///< the values of A
    static constexpr bool reads_vector = true;   ///< the values of x, not only where it has entries
    static constexpr bool reads_columns = false; ///< the number of the column
    static constexpr bool first_suffices = false;
    [[nodiscard]] KRYLITH_HD static T absent() { return T(0); }
    [[nodiscard]] KRYLITH_HD static T add(T a, T b) { return a + b; }
    [[nodiscard]] KRYLITH_HD static T term(T a, T x, std::int32_t) { return a * x; }
};

/// (+, second operand): sums of the entries of x in a row's columns, whatever the values of A. Not
/// reading them saves half the bytes of an entry (fp32). It is for matrices whose columns have one
/// value each, by which the caller scales x before. (The name is from GraphBLAS.)
template <class T>
struct plus_second {
    using value_type = T;
    static constexpr const char* name = "plus-second";
    static constexpr bool exact = false;
    static constexpr bool reads_matrix = false;
    static constexpr bool reads_vector = true;
    static constexpr bool reads_columns = false;
    static constexpr bool first_suffices = false;
    [[nodiscard]] KRYLITH_HD static T absent() { return T(0); }
    [[nodiscard]] KRYLITH_HD static T add(T a, T b) { return a + b; }
    [[nodiscard]] KRYLITH_HD static T term(T, T x, std::int32_t) { return x; }
};

/// (or, and) on 0 and 1: the rows that are reached. Every stored entry of A and x is true, whatever
/// its value.
template <class T>
struct or_and {
    using value_type = T;
    static constexpr const char* name = "or-and";
    static constexpr bool exact = true;
    static constexpr bool reads_matrix = false;
    static constexpr bool reads_vector = false;
    static constexpr bool reads_columns = false;
    static constexpr bool first_suffices = true; ///< further terms of a row don't change its sum
    [[nodiscard]] KRYLITH_HD static T absent() { return T(0); }
    [[nodiscard]] KRYLITH_HD static T add(T a, T b) { return a > b ? a : b; }
    [[nodiscard]] KRYLITH_HD static T term(T, T, std::int32_t) { return T(1); }
};

/// (min, +): lengths of shortest paths.
template <class T>
struct min_plus {
    using value_type = T;
    static constexpr const char* name = "min-plus";
    static constexpr bool exact = true;
    static constexpr bool reads_matrix = true;
    static constexpr bool reads_vector = true;
    static constexpr bool reads_columns = false;
    static constexpr bool first_suffices = false;
    [[nodiscard]] KRYLITH_HD static T absent() { return std::numeric_limits<T>::infinity(); }
    [[nodiscard]] KRYLITH_HD static T add(T a, T b) { return b < a ? b : a; }
    [[nodiscard]] KRYLITH_HD static T term(T a, T x, std::int32_t) { return a + x; }
};

/// The least column with an entry of x: the column that reached the row, e.g. a parent in a
/// breadth-first tree. Where columns ascend in each row the first that is found is the least.
struct min_column {
    using value_type = std::int32_t;
    static constexpr const char* name = "min-column";
    static constexpr bool exact = true;
    static constexpr bool reads_matrix = false;
    static constexpr bool reads_vector = false;
    static constexpr bool reads_columns = true;
    static constexpr bool first_suffices = true;
    [[nodiscard]] KRYLITH_HD static std::int32_t absent() {
        return std::numeric_limits<std::int32_t>::max();
    }
    [[nodiscard]] KRYLITH_HD static std::int32_t add(std::int32_t a, std::int32_t b) {
        return b < a ? b : a;
    }
    [[nodiscard]] KRYLITH_HD static std::int32_t term(std::int32_t, std::int32_t,
                                                      std::int32_t column) {
        return column;
    }
};

} // namespace krylith::spmspv
