// The fused updates that have kernels of their own. To give another one its own kernel, add a line.
#pragma once

#include <array>
#include <string_view>

#include <krylith/vector/kernels/fused_shape.hpp>

namespace krylith {

/// Reads "x+=A*p;p=r+B*p|xx,xp": small letters are vectors, capitals coefficients, d:v is the
/// entry-wise product, pairs after the bar are dot products. Numbers are given in order of
/// appearance, as the update itself does.
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
    const auto vector = [&](char name) { return number(name, vectors, shape.vectors); };
    std::size_t at = 0;
    while (at < text.size() && text[at] != '|') {
        auto& s = shape.statement[shape.statements++];
        s.target = vector(text[at++]);
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
            const char name = text[at++];
            char scaled = 0;
            if (at < text.size() && text[at] == ':') {
                scaled = text[at + 1];
                at += 2;
            }
            t.vector = vector(scaled != 0 ? scaled : name);
            if (scaled != 0) t.scale = vector(name);
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
        d.a = vector(text[at]);
        d.b = vector(text[at + 1]);
        at += 3;
    }
    return shape;
}

inline constexpr std::array known_shapes = {
    read_shape("r-=A*q|rr"),                // CG: residual
    read_shape("x+=A*p;p=r+B*p"),           // CG: solution and direction
    read_shape("r-=A*q;z=d:r|rr,rz"),       // CG with Jacobi
    read_shape("y=x"),                      // copy
    read_shape("y=A*x"),                    // GMRES: the next basis vector
    read_shape("z=d:r"),                    // Jacobi
    read_shape("s=r-A*v|ss"),               // BiCGStab: half step
    read_shape("x+=A*p+B*s;r=s-B*t|rr,ar"), // BiCGStab: step (a: the shadow residual)
    read_shape("x+=A*p+B*h;r=s-B*t|rr,ar"), // and with a preconditioner on the right
    read_shape("p=r+A*p-B*v"),              // BiCGStab: direction
};

} // namespace krylith
