// Distributed vectors and the expressions that the fused update takes.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/device/memory/unmoved.hpp>
#include <krylith/matrix/types/value_type.hpp>
#include <krylith/vector/layout.hpp>
#include <krylith/vector/precision/vector_operand.hpp>
#include <krylith/vector/scalar.hpp>

namespace krylith {

template <class T>
class ghost_exchange;
template <class T>
class put_schedule;

inline constexpr int max_terms = 4;
inline constexpr std::uint8_t no_register = 255;

/// One term: sign * [coefficient] * [scale .*] v, where parts in brackets may be missing. It is
/// computed in T; promote() makes a term in double of a vector<float>.
template <class T>
struct term {
    vector_operand<T> v = nullptr;
    vector_operand<T> scale = nullptr;
    std::uint8_t coefficient = no_register;
    bool negative = false;
};

/// A sum of at most max_terms terms, added up from left to right.
template <class T>
struct linear_combination {
    term<T> terms[max_terms];
    int count = 0;

    linear_combination() = default;
    linear_combination(const term<T>& t) : count(1) { terms[0] = t; } // NOLINT: a term is one
    linear_combination(const vector<T>& v) : linear_combination(term<T>{&v}) {} // NOLINT
};

/// The assignment `target = value` for every entry held. It takes effect when fused() is given it.
/// The value is computed in T, and rounded where the target is a vector<float> and T is double.
template <class T>
struct [[nodiscard]] assignment {
    using value_type = T;
    vector_operand<T> target;
    linear_combination<T> value;
};

/// Whether a V is a linear combination in double, and a vector<T> holds float.
template <class T, class V>
concept widens_to_double =
    std::same_as<T, float> && std::convertible_to<const V&, linear_combination<double>>;

/// A vector of n entries over the devices of a layout, zero at first. With a put schedule it is a
/// *domain vector*: it keeps ghosts, and whatever writes it also sends the entries that peers need.
template <class T>
class vector {
    static_assert(is_value_type<T>, "krylith: values are double or float (no complex numbers, no "
                                    "other precisions, no const)");

public:
    using value_type = T;

    /// Collective.
    explicit vector(layout_handle layout, const std::string& item = "vectors",
                    std::shared_ptr<const put_schedule<T>> schedule = nullptr);

    /// Uses arrays that the caller owns: arrays[rank] holds layout.held(rank) entries on the device
    /// of that rank and outlives the vector. Nothing is copied, so where the layout has an order
    /// the entries are in that order, not in the caller's. Ghosts are not sent: put_ghosts() of a
    /// domain vector does that. Throws usage_error for another number of arrays, and where one of a
    /// local rank is null. Not collective: what it throws is this driver's alone.
    [[nodiscard]] static vector borrow(layout_handle layout, std::span<T* const> arrays);

    vector(vector&&) noexcept = default;
    vector& operator=(vector&&) noexcept = default;
    ~vector() = default;

    [[nodiscard]] const layout_handle& layout() const { return layout_.get(); }
    [[nodiscard]] std::int64_t size() const { return layout_->size(); }
    /// The entries that the device of `rank` holds, held(rank) of them. Ghosts of a domain vector
    /// lie around them, in the order of local numbers (index_map.hpp): number 0 is at
    /// data(rank) - first_owned() of the rank's local_indices.
    [[nodiscard]] T* data(int rank) const {
        if (layout_ == nullptr) refuse_moved_from();
        return arrays_[static_cast<std::size_t>(rank)];
    }
    /// Whether the two vectors, which are on one group, have memory in common, as two borrows of
    /// one array have: what writes one then changes the other. Ghosts don't count.
    [[nodiscard]] bool overlaps(const vector& other) const;
    /// The exchange of ghosts; null unless this is a domain vector.
    [[nodiscard]] const ghost_exchange<T>* exchange() const { return exchange_.get(); }

    /// Promises that each put of this domain vector is read by one product at most. Peers may then
    /// send the next put as soon as that product is done; otherwise only once this rank writes the
    /// domain vector again.
    void promise_single_reader() { single_reader_ = true; }
    [[nodiscard]] bool single_reader() const { return single_reader_; }

    /// Sets all entries to 0, ghosts too. Stream-ordered.
    void zero();

    /// Copy n entries from and to host memory, in the caller's order of rows: side by side on the
    /// links of all devices, and by all threads where the memory is not pinned (OMP_NUM_THREADS
    /// bounds them). Where the layout has another order the threads gather or scatter the entries
    /// on the way. upload() leaves ghosts stale: see put_ghosts(). Of several drivers each uploads
    /// the entries of its local ranks, of which its values must be right, and download() gives each
    /// all entries. Both throw usage_error for another number of entries. Collective.
    void upload(std::span<const T> values);
    void download(std::span<T> values) const;
    /// The same with the entries that the local ranks own alone, one rank after the other, in the
    /// order of the layout: nothing has the length of the whole vector. For owned vectors.
    void upload_local(std::span<const T> values);
    void download_local(std::span<T> values) const;
    /// The rows that upload_local() and download_local() take.
    [[nodiscard]] row_range local_rows() const;

    assignment<T> operator=(const linear_combination<T>& v) { return {this, v}; } // NOLINT: proxy
    assignment<T> operator=(const vector& v) { return {this, v}; }                // NOLINT: proxy
    assignment<T> operator+=(const linear_combination<T>& v);
    assignment<T> operator-=(const linear_combination<T>& v);
    /// The same in double, for entries that are kept as float: V is a vector<double>, a
    /// term<double> or a linear_combination<double>. (Templates, because clang 14 gives members
    /// that differ in their constraints alone one name.)
    template <class V>
    requires widens_to_double<T, V> assignment<double>
    operator=(const V& v) { // NOLINT: proxy
        return {this, linear_combination<double>(v)};
    }
    template <class V>
    requires widens_to_double<T, V> assignment<double>
    operator+=(const V& v);
    template <class V>
    requires widens_to_double<T, V> assignment<double>
    operator-=(const V& v);

private:
    vector() = default;
    unmoved<layout_handle> layout_;
    std::vector<buffer<T>> storage_;
    std::vector<T*> arrays_;
    std::shared_ptr<ghost_exchange<T>> exchange_;
    bool single_reader_ = false;
};

/// The same by a name that std doesn't have, for programs with `using namespace std`.
template <class T>
using distributed_vector = vector<T>;

template <class T>
[[nodiscard]] term<T> operator*(scalar_value c, const vector<T>& v) {
    return {&v, nullptr, c.number, false};
}
template <class T>
[[nodiscard]] term<T> operator*(const scalar& c, const vector<T>& v) {
    return c.value() * v;
}
template <class T>
[[nodiscard]] term<T> operator*(scalar_value c, term<T> t) {
    t.coefficient = c.number;
    return t;
}
template <class T>
[[nodiscard]] term<T> operator-(const vector<T>& v) {
    return {&v, nullptr, no_register, true};
}
/// The entry-wise product scale .* v (diagonal scaling).
template <class T>
[[nodiscard]] term<T> pointwise(const vector<T>& scale, const vector<T>& v) {
    return {&v, &scale, no_register, false};
}

inline term<double> pointwise(const vector<float>& scale, const vector<double>& v) {
    return {&v, &scale, no_register, false};
}
inline term<double> pointwise(const vector<double>& scale, const vector<float>& v) {
    return {&v, &scale, no_register, false};
}

/// Returns the term, or the vector, as a term of an update that computes in To. A vector<float>
/// then takes part in double; a term that is of type To already stays what it is.
template <class To, class From>
[[nodiscard]] term<To> promote(const term<From>& t) {
    if constexpr (std::same_as<To, From>) {
        return t;
    } else {
        static_assert(std::same_as<To, double>, "promote goes from float to double");
        const vector<float>* const v = t.v;
        const vector<float>* const scale = t.scale;
        return {v, scale, t.coefficient, t.negative};
    }
}
template <class To, class From>
[[nodiscard]] term<To> promote(const vector<From>& v) {
    return promote<To>(term<From>{&v});
}

/// Returns a + b, or a - b if `negate_b`; throws usage_error beyond max_terms.
template <class T>
[[nodiscard]] linear_combination<T> sum(linear_combination<T> a, const linear_combination<T>& b,
                                        bool negate_b);

template <class T>
[[nodiscard]] linear_combination<T> operator+(const linear_combination<T>& a, const term<T>& b) {
    return sum(a, linear_combination<T>(b), false);
}
template <class T>
[[nodiscard]] linear_combination<T> operator-(const linear_combination<T>& a, const term<T>& b) {
    return sum(a, linear_combination<T>(b), true);
}
template <class T>
[[nodiscard]] linear_combination<T> operator+(const term<T>& a, const term<T>& b) {
    return sum(linear_combination<T>(a), linear_combination<T>(b), false);
}
template <class T>
[[nodiscard]] linear_combination<T> operator-(const term<T>& a, const term<T>& b) {
    return sum(linear_combination<T>(a), linear_combination<T>(b), true);
}
template <class T>
[[nodiscard]] linear_combination<T> operator+(const linear_combination<T>& a, const vector<T>& b) {
    return sum(a, linear_combination<T>(b), false);
}
template <class T>
[[nodiscard]] linear_combination<T> operator-(const linear_combination<T>& a, const vector<T>& b) {
    return sum(a, linear_combination<T>(b), true);
}
template <class T>
[[nodiscard]] linear_combination<T> operator+(const term<T>& a, const vector<T>& b) {
    return sum(linear_combination<T>(a), linear_combination<T>(b), false);
}
template <class T>
[[nodiscard]] linear_combination<T> operator-(const term<T>& a, const vector<T>& b) {
    return sum(linear_combination<T>(a), linear_combination<T>(b), true);
}
template <class T>
[[nodiscard]] linear_combination<T> operator+(const vector<T>& a, const term<T>& b) {
    return sum(linear_combination<T>(a), linear_combination<T>(b), false);
}
template <class T>
[[nodiscard]] linear_combination<T> operator-(const vector<T>& a, const term<T>& b) {
    return sum(linear_combination<T>(a), linear_combination<T>(b), true);
}
template <class T>
[[nodiscard]] linear_combination<T> operator+(const vector<T>& a, const vector<T>& b) {
    return sum(linear_combination<T>(a), linear_combination<T>(b), false);
}
template <class T>
[[nodiscard]] linear_combination<T> operator-(const vector<T>& a, const vector<T>& b) {
    return sum(linear_combination<T>(a), linear_combination<T>(b), true);
}

template <class T>
template <class V>
requires widens_to_double<T, V> assignment<double> vector<T>::operator+=(const V& v) {
    return {this, sum(linear_combination<double>(promote<double>(*this)),
                      linear_combination<double>(v), false)};
}

template <class T>
template <class V>
requires widens_to_double<T, V> assignment<double> vector<T>::operator-=(const V& v) {
    return {this, sum(linear_combination<double>(promote<double>(*this)),
                      linear_combination<double>(v), true)};
}

} // namespace krylith
