// The fused updates that have kernels of their own. To give another one its own kernel, add a line.
#pragma once

#include <array>
#include <string_view>

#include <krylith/vector/kernels/fused_shape.hpp>

namespace krylith {

/// Reads "x+=A*p;p=r+B*p|xx,xp": small letters are vectors, capitals coefficients, d:v is the
/// entry-wise product, pairs after the bar are dot products. A letter with a prime (v') is a vector
/// of float in an update that computes in double. Numbers are given in order of appearance, as the
/// update itself does.
class shape_reader {
public:
    constexpr explicit shape_reader(std::string_view text) : text_(text) {}

    constexpr fused_shape read() {
        while (at_ < text_.size() && text_[at_] != '|') {
            statement();
            skip(';');
        }
        skip('|');
        while (at_ < text_.size()) {
            auto& d = shape_.dot[shape_.dots++];
            d.a = vector();
            d.b = vector();
            skip(',');
        }
        return shape_;
    }

private:
    [[nodiscard]] constexpr bool next_is(char c) const {
        return at_ < text_.size() && text_[at_] == c;
    }
    constexpr bool skip(char c) {
        const bool there = next_is(c);
        if (there) ++at_;
        return there;
    }

    /// The number of a name, which is given where it appears first.
    static constexpr std::int8_t number(char name, char* names, std::int8_t& count) {
        for (std::int8_t i = 0; i < count; ++i)
            if (names[i] == name) return i;
        names[count] = name;
        return count++;
    }

    /// Reads a letter, and the prime behind it.
    constexpr std::int8_t vector() {
        const char name = text_[at_++];
        const bool single = skip('\'');
        // The letter of a float vector is kept as a capital: v' is another vector than v.
        const auto found =
            number(single ? static_cast<char>(name - 'a' + 'A') : name, vectors_, shape_.vectors);
        if (single) shape_.single = static_cast<std::uint8_t>(shape_.single | (1u << found));
        return found;
    }

    constexpr void statement() {
        auto& s = shape_.statement[shape_.statements++];
        s.target = vector();
        bool negative = false;
        if (!next_is('=')) { // += and -=: the target is the first term
            negative = text_[at_++] == '-';
            s.term[s.terms++].vector = s.target;
        }
        ++at_;
        for (;;) {
            auto& t = s.term[s.terms++];
            t.negative = skip('-') != negative;
            term(t);
            negative = next_is('-');
            if (!skip('-') && !skip('+')) return;
        }
    }

    /// Reads A*d:v, of which A* and d: may be missing.
    constexpr void term(fused_shape::input& t) {
        char coefficient = 0;
        if (text_[at_] >= 'A' && text_[at_] <= 'Z') {
            coefficient = text_[at_];
            at_ += 2;
        }
        // An update numbers the vector of a term before the scale, which stands first here.
        const std::size_t first = at_;
        const std::size_t behind_letter =
            first + (first + 1 < text_.size() && text_[first + 1] == '\'' ? 2 : 1);
        const bool scaled = behind_letter < text_.size() && text_[behind_letter] == ':';
        if (scaled) at_ = behind_letter + 1;
        t.vector = vector();
        if (scaled) {
            const std::size_t behind = at_;
            at_ = first;
            t.scale = vector();
            at_ = behind;
        }
        if (coefficient != 0)
            t.coefficient = number(coefficient, coefficients_, shape_.coefficients);
    }

    std::string_view text_;
    std::size_t at_ = 0;
    fused_shape shape_;
    char vectors_[max_fused_vectors] = {};
    char coefficients_[max_fused_coefficients] = {};
};

constexpr fused_shape read_shape(std::string_view text) {
    return shape_reader(text).read();
}

inline constexpr std::array known_shapes = {
    read_shape("r-=A*q|rr"),                // CG: residual
    read_shape("x+=A*p;p=r+B*p"),           // CG: solution and direction
    read_shape("r-=A*q;z=d:r|rr,rz"),       // CG with Jacobi
    read_shape("y=x"),                      // copy
    read_shape("y=x;z=x|xx"),               // the start of a solve from 0
    read_shape("y=x|xx"),                   // the same where peers write x
    read_shape("y=x;z=x;r=b|xx"),           // its end: x for its check, and for the caller
    read_shape("y=A*x"),                    // GMRES: the next basis vector
    read_shape("z=d:r"),                    // Jacobi
    read_shape("s=r-A*v|ss"),               // BiCGStab: half step
    read_shape("x+=A*p+B*s;r=s-B*t|rr,ar"), // BiCGStab: step (a: the shadow residual)
    read_shape("x+=A*p+B*h;r=s-B*t|rr,ar"), // and with a preconditioner on the right
    read_shape("p=r+A*p-B*v"),              // BiCGStab: direction
    read_shape("|rr"),                      // a norm
    // Chebyshev. In fp64 and fp32 alike: first and later sums, last pass; then the passes between
    // a solve in fp64 and a preconditioner in fp32.
    read_shape("z=A*v+B*w"),
    read_shape("z+=A*v+B*w"),
    read_shape("v=A*s:r"),
    read_shape("z=A*s:y+B*s:v+C*s:w|rz"),
    read_shape("v'=A*s':r"),
    read_shape("z=A*s':y'+B*s':v'+C*s':w'|rz"),
    read_shape("z=A*s':y'+B*s':v'+C*s':w'"),
    read_shape("z=A*s':v'+B*s':w'|rz"),
    read_shape("z=A*s':v'+B*s':w'"),
    // Multigrid: r on its way into the first level, the first and the later changes of x before and
    // after the correction, and the result of a level.
    read_shape("r'=A*s':b;z'=B*r';x'=z'"),
    read_shape("z=A*r;x=z"),
    read_shape("z=A*z+B*r;x+=z"),
    read_shape("x+=z;z=A*r;x+=z"),
    read_shape("e=x+A*z+B*r"),
};

} // namespace krylith
