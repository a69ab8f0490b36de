// What a term, an assignment or a dot product refers to, where vectors of two precisions meet.
#pragma once

#include <concepts>
#include <cstddef>

namespace krylith {

template <class T>
class vector;

/// A pointer to a vector<T>, or, in an update that computes in double, to a vector<float>.
template <class T>
class vector_operand {
public:
    constexpr vector_operand() = default;
    constexpr vector_operand(std::nullptr_t) {}               // NOLINT: it is a pointer
    constexpr vector_operand(const vector<T>* v) : own_(v) {} // NOLINT
    constexpr vector_operand(const vector<float>* v) requires std::same_as<T, double> // NOLINT
        : single_(v) {}

    /// The vector<T>; null where the operand is a vector<float> of an update in double.
    constexpr operator const vector<T>*() const { return own_; } // NOLINT
    [[nodiscard]] constexpr const vector<T>* own() const { return own_; }
    /// The vector<float> of an update in double; null for all others.
    [[nodiscard]] constexpr const vector<float>* single() const { return single_; }
    [[nodiscard]] constexpr bool empty() const { return own_ == nullptr && single_ == nullptr; }

    constexpr bool operator==(const vector_operand&) const = default;
    constexpr bool operator==(const vector<T>* v) const { return own_ == v && single_ == nullptr; }
    constexpr bool operator==(std::nullptr_t) const { return empty(); }

private:
    const vector<T>* own_ = nullptr;
    const vector<float>* single_ = nullptr;
};

} // namespace krylith
