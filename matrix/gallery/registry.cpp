// The gallery by name.
#include <krylith/matrix/gallery.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/nearest_name.hpp>
#include <krylith/matrix/gallery/recipe.hpp>

namespace krylith {
namespace {

std::string_view name_of(const recipe& r) {
    return r.entry.name;
}

const std::vector<recipe>& all_recipes() {
    static const auto recipes = [] {
        std::vector<recipe> all;
        std::ranges::merge(grid_recipes(), graph_recipes(), std::back_inserter(all), {}, name_of,
                           name_of);
        return all;
    }();
    return recipes;
}

/// Other names that people write for some of them.
constexpr std::array<name_alias, 4> aliases = {{{"poisson", "poisson2d"},
                                                {"laplace", "poisson2d"},
                                                {"laplacian", "poisson2d"},
                                                {"spd", "random_spd"}}};

/// The message about an unknown name.
std::string unknown(std::string_view name) {
    std::vector<std::string_view> names;
    std::string all;
    for (const gallery_entry& entry : gallery_names()) {
        names.push_back(entry.name);
        all += (all.empty() ? "" : ", ") + std::string(entry.name);
    }
    const std::string nearest = nearest_name(name, names, aliases);
    return "unknown matrix \"" + std::string(name) + "\"" +
           (nearest.empty() ? ". Allowed: " : ", did you mean " + nearest + "? Allowed: ") + all;
}

const recipe* find_recipe(std::string_view name) {
    const auto& all = all_recipes();
    const auto found = std::ranges::find(all, name, name_of);
    return found == all.end() ? nullptr : &*found;
}

} // namespace

std::span<const gallery_entry> gallery_names() {
    static const auto entries = [] {
        std::vector<gallery_entry> result;
        std::ranges::transform(all_recipes(), std::back_inserter(result), &recipe::entry);
        return result;
    }();
    return entries;
}

const gallery_entry& gallery_named(std::string_view name) {
    const auto all = gallery_names();
    const auto found = std::ranges::find(all, name, &gallery_entry::name);
    if (found == all.end()) {
        throw usage_error(unknown(name));
    }
    return *found;
}

namespace {

/// The recipe of a spec, whose arguments are as many as it takes.
const recipe& recipe_of(const gallery_spec& spec) {
    const recipe* const found = find_recipe(spec.name());
    if (found == nullptr) {
        spec.refuse(unknown(spec.name()));
    }
    spec.check(found->least_arguments, found->most_arguments, found->entry.arguments);
    return *found;
}

} // namespace

template <class T>
csr_matrix<T> make_gallery(std::string_view text) {
    const gallery_spec spec(text);
    const recipe& found = recipe_of(spec);
    if constexpr (std::is_same_v<T, double>) {
        return found.build_double(spec);
    } else {
        return found.build_float(spec);
    }
}

node_coordinates gallery_coordinates(std::string_view text) {
    const gallery_spec spec(text);
    const recipe& found = recipe_of(spec);
    return found.coordinates == nullptr ? node_coordinates{} : found.coordinates(spec);
}

#define KRYLITH_INSTANTIATE(T) template csr_matrix<T> make_gallery(std::string_view);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
