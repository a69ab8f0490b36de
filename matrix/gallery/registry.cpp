// The gallery by name: one line a matrix.
#include <krylith/matrix/gallery.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <krylith/device/nearest_name.hpp>
#include <krylith/matrix/gallery/spec.hpp>

namespace krylith {
namespace {

template <class T>
struct recipe {
    gallery_entry entry;
    std::size_t least_arguments;
    std::size_t most_arguments;
    csr_matrix<T> (*build)(const gallery_spec&);
};

template <class T>
csr_matrix<T> build_convection_diffusion(const gallery_spec& s) {
    return convection_diffusion<T>(s.size(0, "N"), s.not_negative(1, "PECLET"), s.random());
}

template <class T>
csr_matrix<T> build_poisson2d(const gallery_spec& s) {
    const std::int64_t nx = s.size(0, "NX");
    return poisson2d<T>(nx, s.count() == 1 ? nx : s.size(1, "NY"), s.random());
}

/// For the generators that take NX[:NY:NZ].
template <class T, csr_matrix<T> (*Generate)(std::int64_t, std::int64_t, std::int64_t,
                                             std::optional<random_scaling>)>
csr_matrix<T> build_box(const gallery_spec& s) {
    const std::int64_t nx = s.size(0, "NX");
    if (s.count() == 2) {
        s.refuse("NY without NZ, allowed are NX and NX:NY:NZ");
    }
    const bool cube = s.count() == 1;
    return Generate(nx, cube ? nx : s.size(1, "NY"), cube ? nx : s.size(2, "NZ"), s.random());
}

template <class T>
csr_matrix<T> build_random_spd(const gallery_spec& s) {
    if (s.random()) {
        s.refuse("random=SEED, allowed is the SEED of N:NNZ_PER_ROW:SEED");
    }
    const std::uint64_t seed = s.count() == 3 ? s.seed(2, "SEED") : 1;
    return random_spd<T>(s.size(0, "N"), s.size(1, "NNZ_PER_ROW", 256), seed);
}

template <class T>
constexpr std::array<recipe<T>, 5> recipes{{
    {{"convection_diffusion", "N:PECLET[:random=SEED]",
      "convection-diffusion on N^3 points, upwind, not symmetric; PECLET = velocity / diffusion"},
     2,
     2,
     build_convection_diffusion<T>},
    {{"poisson2d", "NX[:NY][:random=SEED]",
      "5-point Laplacian; random=SEED scales it symmetrically by random values"},
     1,
     2,
     build_poisson2d<T>},
    {{"poisson3d", "NX[:NY:NZ][:random=SEED]",
      "7-point Laplacian; random=SEED scales it symmetrically by random values"},
     1,
     3,
     build_box<T, poisson3d<T>>},
    {{"poisson3d_27point", "NX[:NY:NZ][:random=SEED]",
      "27-point Laplacian; random=SEED scales it symmetrically by random values"},
     1,
     3,
     build_box<T, poisson3d_27point<T>>},
    {{"random_spd", "N:NNZ_PER_ROW[:SEED]",
      "random places and values, symmetric positive definite; up to NNZ_PER_ROW (<= 256) a row"},
     2,
     3,
     build_random_spd<T>},
}};

template <class T>
[[noreturn]] void refuse_name(const gallery_spec& spec) {
    std::array<std::string_view, recipes<T>.size()> names;
    std::ranges::transform(recipes<T>, names.begin(), [](const auto& r) { return r.entry.name; });
    std::string all;
    for (const std::string_view name : names) {
        all += (all.empty() ? "" : ", ") + std::string(name);
    }
    spec.refuse("unknown matrix \"" + std::string(spec.name()) + "\", did you mean " +
                nearest_name(spec.name(), names) + "? Allowed: " + all);
}

} // namespace

std::span<const gallery_entry> gallery_names() {
    static const auto entries = [] {
        std::array<gallery_entry, recipes<double>.size()> result;
        std::ranges::transform(recipes<double>, result.begin(), &recipe<double>::entry);
        return result;
    }();
    return entries;
}

template <class T>
csr_matrix<T> make_gallery(std::string_view text) {
    const gallery_spec spec(text);
    const auto found =
        std::ranges::find(recipes<T>, spec.name(), [](const recipe<T>& r) { return r.entry.name; });
    if (found == recipes<T>.end()) {
        refuse_name<T>(spec);
    }
    if (spec.count() < found->least_arguments || spec.count() > found->most_arguments) {
        spec.refuse("too " + std::string(spec.count() < found->least_arguments ? "few" : "many") +
                    " arguments, allowed is " + std::string(found->entry.name) + ":" +
                    std::string(found->entry.arguments));
    }
    return found->build(spec);
}

template csr_matrix<double> make_gallery(std::string_view);
template csr_matrix<float> make_gallery(std::string_view);

} // namespace krylith
