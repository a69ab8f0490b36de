// The shape of a fused update: which vectors and coefficients go where, without addresses or
// values.
#pragma once

#include <cstdint>

#include <krylith/device/language/cxx20.hpp>

namespace krylith {

inline constexpr int max_fused_vectors = 8;
inline constexpr int max_fused_statements = 3;
inline constexpr int max_fused_dots = 4;
inline constexpr int max_fused_coefficients = 8;
static_assert(max_fused_vectors <= 8, "fused_shape::single has a bit for each vector");

/// The shape of an update. Vectors and coefficients are numbered in order of appearance, so that
/// equal shapes compare equal. It is a structural type: kernels for the shapes that solvers use
/// take it as template argument.
///
/// In an update that computes in double some vectors may be float (`single`): their entries are
/// widened when they are read and rounded when they are assigned to.
struct fused_shape {
    struct input {
        std::int8_t vector = 0;
        std::int8_t scale = -1;       ///< multiplied entry by entry, or -1
        std::int8_t coefficient = -1; ///< or -1: one
        bool negative = false;
        constexpr bool operator==(const input&) const = default;
    };
    struct update {
        std::int8_t target = 0;
        std::int8_t terms = 0;
        input term[4] = {};
        constexpr bool operator==(const update&) const = default;
    };
    struct product {
        std::int8_t a = 0;
        std::int8_t b = 0;
        constexpr bool operator==(const product&) const = default;
    };

    std::int8_t vectors = 0;
    std::int8_t coefficients = 0;
    std::int8_t statements = 0;
    std::int8_t dots = 0;
    update statement[max_fused_statements] = {};
    product dot[max_fused_dots] = {};
    std::uint8_t single = 0; ///< bit set: vectors of float in an update that computes in double
    constexpr bool operator==(const fused_shape&) const = default;

    [[nodiscard]] constexpr bool mixed() const { return single != 0; }
    [[nodiscard]] constexpr bool is_single(int vector) const { return (single >> vector & 1) != 0; }

    /// The bit set of vectors that are read before anything is assigned to them.
    [[nodiscard]] constexpr std::uint32_t loaded() const {
        std::uint32_t read = 0;
        std::uint32_t written = 0;
        for (int s = 0; s < statements; ++s) {
            for (int t = 0; t < statement[s].terms; ++t) {
                const auto& in = statement[s].term[t];
                read |= (1u << in.vector) & ~written;
                if (in.scale >= 0) read |= (1u << in.scale) & ~written;
            }
            written |= 1u << statement[s].target;
        }
        for (int d = 0; d < dots; ++d) read |= ((1u << dot[d].a) | (1u << dot[d].b)) & ~written;
        return read;
    }

    /// The bit set of vectors that are assigned to.
    [[nodiscard]] constexpr std::uint32_t stored() const {
        std::uint32_t written = 0;
        for (int s = 0; s < statements; ++s) written |= 1u << statement[s].target;
        return written;
    }
};

} // namespace krylith
