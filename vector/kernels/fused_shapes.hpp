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
constexpr fused_shape read_shape(std::string_view text) {
    fused_shape shape;
    char vectors[max_fused_vectors] = {};
    char coefficients[max_fused_coefficients] = {};
    const auto number = [](char name, char* names, std::int8_t& count) {
        for (std::int8_t i = 0; i < count; ++i)
            if (names[i] == name) return i;
        names[count] = name;
        return count++;
    };
    std::size_t at = 0;
    const auto vector = [&]() { // reads a letter, and the prime behind it
        const char name = text[at++];
        const bool single = at < text.size() && text[at] == '\'';
        if (single) ++at;
        // The letter of a float vector is kept as a capital: v' is another vector than v.
        const auto found =
            number(single ? static_cast<char>(name - 'a' + 'A') : name, vectors, shape.vectors);
        if (single) shape.single = static_cast<std::uint8_t>(shape.single | (1u << found));
        return found;
    };
    while (at < text.size() && text[at] != '|') {
        auto& s = shape.statement[shape.statements++];
        s.target = vector();
        bool negative = false;
        if (text[at] != '=') { // += and -=: the target is the first term
            negative = text[at++] == '-';
            s.term[s.terms++].vector = s.target;
        }
        ++at;
        for (bool more = true; more;) {
            auto& t = s.term[s.terms++];
            t.negative = negative;
            if (text[at] == '-') {
                t.negative = !t.negative;
                ++at;
            }
            char coefficient = 0;
            if (text[at] >= 'A' && text[at] <= 'Z') {
                coefficient = text[at];
                at += 2;
            }
            // An update numbers the vector of a term before the scale, which stands first here.
            const std::size_t first = at;
            at += at + 1 < text.size() && text[at + 1] == '\'' ? 2 : 1;
            const bool scaled = at < text.size() && text[at] == ':';
            if (scaled)
                ++at;
            else
                at = first;
            t.vector = vector();
            if (scaled) {
                const std::size_t behind = at;
                at = first;
                t.scale = vector();
                at = behind;
            }
            if (coefficient != 0)
                t.coefficient = number(coefficient, coefficients, shape.coefficients);
            more = at < text.size() && (text[at] == '+' || text[at] == '-');
            if (more) {
                negative = text[at] == '-';
                ++at;
            }
        }
        if (at < text.size() && text[at] == ';') ++at;
    }
    if (at < text.size()) ++at;
    while (at < text.size()) {
        auto& d = shape.dot[shape.dots++];
        d.a = vector();
        d.b = vector();
        ++at;
    }
    return shape;
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
