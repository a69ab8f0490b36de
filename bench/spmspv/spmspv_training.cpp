#include <krylith/bench/spmspv/spmspv_training.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include <fmt/format.h>

#include <krylith/device/error.hpp>

namespace krylith::bench {

namespace {

/// The specification of a matrix of about so many nonzeros.
using rule = std::function<std::string(double nonzeros)>;

std::int64_t whole(double x, std::int64_t least = 2) {
    return std::max(least, static_cast<std::int64_t>(std::llround(x)));
}

/// A square grid of `points` a row of nonzeros, stretched: wide / aspect to one.
rule plane(const char* name, double points, double aspect) {
    return [=](double nonzeros) {
        const double side = std::sqrt(nonzeros / points / aspect);
        return fmt::format("gallery:{}:{}:{}", name, whole(side * aspect), whole(side));
    };
}

/// A box with nx : ny : nz = length : 1 : height.
rule box(const char* name, double points, double length, double height) {
    return [=](double nonzeros) {
        const double side = std::cbrt(nonzeros / points / length / height);
        return fmt::format("gallery:{}:{}:{}:{}", name, whole(side * length), whole(side),
                           whole(side * height));
    };
}

/// A matrix of N^dimensions rows, with the arguments behind N.
rule power(const char* name, double points, double dimensions, std::string more = "") {
    return [=](double nonzeros) {
        return fmt::format("gallery:{}:{}{}", name,
                           whole(std::pow(nonzeros / points, 1 / dimensions), 4), more);
    };
}

rule seeded(const char* name, double points, double dimensions, int seed) {
    return power(name, points, dimensions, fmt::format(":seed={}", seed));
}

/// A graph of 2^K vertices of `edges` each, stored `sides` times.
rule scrambled(const char* name, int edges, int sides, int seed) {
    return [=](double nonzeros) {
        return fmt::format("gallery:{}:{}:{}:seed={}", name,
                           whole(std::log2(nonzeros / edges / sides), 4), edges, seed);
    };
}

rule geometric(int seed) {
    return [=](double nonzeros) {
        int k = 6; // about 0.95 n ln n nonzeros; the power of two nearest by its logarithm
        while (0.95 * std::exp2(k) * k * std::log(2.0) < 0.7 * nonzeros) {
            ++k;
        }
        return fmt::format("gallery:rgg:{}:seed={}", k, seed);
    };
}

void add_grids(std::vector<rule>& all) {
    for (const double aspect : {1.0, 16.0, 400.0}) {
        all.push_back(plane("poisson2d", 5, aspect));
    }
    for (const double aspect : {1.0, 64.0}) {
        all.push_back(plane("poisson2d_9point", 9, aspect));
        all.push_back(plane("stokes2d", 18, aspect));
        all.push_back(plane("delaunay", 6, aspect));
    }
    all.push_back(seeded("delaunay", 6, 2, 7));
    struct shape {
        double length, height;
    };
    for (const auto& [length, height] : {shape{1, 1}, shape{1, 0.1}, shape{30, 1}}) {
        all.push_back(box("poisson3d", 7, length, height));
        all.push_back(box("poisson3d_27point", 27, length, height));
        all.push_back(box("elasticity3d", 243, length, height));
    }
    all.push_back(power("poisson1d", 3, 1));
    all.push_back(power("anisotropic_diffusion", 9, 2, ":0.01:30"));
    all.push_back(power("convection_diffusion", 7, 3, ":10"));
    all.push_back(power("helmholtz2d", 5, 2, ":20"));
    all.push_back(power("helmholtz3d", 7, 3, ":20"));
    all.push_back(power("jump_diffusion", 7, 3, ":1000"));
    all.push_back(power("nlpkkt", 55, 3));
}

void add_graphs(std::vector<rule>& all) {
    for (const int seed : {1, 2, 3, 4}) {
        all.push_back(seeded("fullchip", 9, 1, seed));
        all.push_back(seeded("kmer", 2.1, 1, seed));
        all.push_back(seeded("road", 7.2, 2, seed));
    }
    for (const int seed : {1, 2, 3}) {
        all.push_back(geometric(seed));
    }
    for (const int edges : {4, 8, 16, 32, 64}) {
        all.push_back(scrambled("kron", edges, 2, edges));
    }
    for (const int edges : {2, 4, 8, 16, 32, 64}) {
        all.push_back(scrambled("rmat", edges, 1, edges));
        all.push_back(scrambled("rmat", edges, 1, edges + 1));
    }
    for (const int mean : {3, 6, 12, 16, 24, 48, 96}) {
        all.push_back(power("web", mean, 1, fmt::format(":{}:seed={}", mean, mean)));
    }
    for (const int row : {1, 2, 3, 5, 8, 17, 32, 64, 128, 256}) {
        all.push_back([=](double nonzeros) {
            return fmt::format("gallery:random:{}:{}", whole(nonzeros / row + row), row);
        });
    }
    for (const int row : {4, 8, 16, 32, 64, 128}) {
        all.push_back([=](double nonzeros) {
            return fmt::format("gallery:random_spd:{}:{}", whole(nonzeros / row + row), row);
        });
    }
}

} // namespace

std::vector<double> training_sizes(const std::string& scale) {
    if (scale == "small") {
        return {5e3, 2.5e4, 1.2e5, 5e5};
    }
    if (scale == "medium") {
        return {1e5, 5e5, 2.5e6, 1.2e7};
    }
    if (scale == "large") {
        return {5e5, 2.5e6, 1.2e7, 6e7};
    }
    throw usage_error("unknown scale '" + scale + "'; allowed are small, medium, large");
}

std::string grown(const gallery_entry& entry, double nonzeros) {
    const std::string example(entry.example);
    const std::size_t colon = example.find(':');
    const std::string more = colon == std::string::npos ? "" : example.substr(colon);
    const double size = std::stod(example.substr(0, colon));
    const auto spec = [&](double n) { return fmt::format("{}:{}{}", entry.name, whole(n), more); };
    const auto nonzeros_of = [&](double n) {
        return static_cast<double>(make_gallery<float>(spec(n)).nnz());
    };
    const double power = std::log2(nonzeros_of(2 * size) / nonzeros_of(size));
    return "gallery:" + spec(size * std::pow(nonzeros / nonzeros_of(size), 1 / power));
}

std::vector<std::string> training_matrices(const std::string& scale) {
    std::vector<rule> all;
    add_grids(all);
    add_graphs(all);
    for (const gallery_entry& entry : gallery_names()) {
        const std::string own = fmt::format("gallery:{}:", entry.name);
        if (std::ranges::none_of(
                all, [&](const rule& matrix) { return matrix(1e5).starts_with(own); })) {
            all.push_back([&entry](double nonzeros) { return grown(entry, nonzeros); });
        }
    }
    std::vector<std::string> result;
    for (const rule& matrix : all) {
        for (const double nonzeros : training_sizes(scale)) {
            result.push_back(matrix(nonzeros));
        }
    }
    return result;
}

} // namespace krylith::bench
