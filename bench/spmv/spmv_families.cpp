#include <krylith/bench/spmv/spmv_families.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>

#include <krylith/device/error.hpp>

namespace krylith::bench {

namespace {

constexpr std::array sizes_in_order = {"tiny", "small", "medium", "large"};
constexpr std::array millions = {0.5, 10.0, 60.0, 300.0};

/// The families from the sparsest rows to the densest, graphs first. kron's and rgg's sizes are
/// powers of two.
constexpr std::array<gallery_family, 10> spmv_families = {{
    {"kmer", {"200000", "4800000", "28600000", "143000000"}},
    {"web", {"34000", "690000", "4130000", "20700000"}},
    {"fullchip", {"50000", "1100000", "6700000", "33300000"}},
    {"rgg", {"16", "20", "22", "24"}},
    {"kron", {"14", "18:20", "21", "23:19"}},
    {"nlpkkt", {"20", "56", "103", "176"}},
    {"poisson3d", {"40", "113", "205", "350"}},
    {"poisson3d_27point", {"24", "72", "131", "224"}},
    {"elasticity3d", {"12", "35", "63", "107"}},
    {"random", {"30000:16", "625000:16", "3750000:16", "18750000:16"}},
}};

template <class Names>
[[noreturn]] void refuse(const std::string& what, const std::string& found, const Names& allowed) {
    std::string message = "unknown " + what + " '" + found + "'; allowed are";
    for (const auto& name : allowed) {
        message += std::string(" ") + name;
    }
    throw usage_error(message);
}

std::size_t place_of_size(const std::string& size) {
    const auto found = std::ranges::find(sizes_in_order, size);
    if (found == sizes_in_order.end()) {
        refuse("size", size, sizes_in_order);
    }
    return static_cast<std::size_t>(found - sizes_in_order.begin());
}

const gallery_family& family_named(const std::string& name, std::span<const gallery_family> of) {
    const auto found = std::ranges::find(of, name, &gallery_family::name);
    if (found == of.end()) {
        std::vector<std::string> names = {"all"};
        for (const gallery_family& f : of) {
            names.emplace_back(f.name);
        }
        refuse("family", name, names);
    }
    return *found;
}

spmv_case member(const gallery_family& f, std::size_t size) {
    return {std::string("gallery:") + f.name + ":" + f.arguments[size], f.name,
            sizes_in_order[size]};
}

} // namespace

spmv_case case_of_matrix(const std::string& name) {
    const std::string gallery = "gallery:";
    const std::string family =
        name.starts_with(gallery)
            ? name.substr(gallery.size(), name.find(':', gallery.size()) - gallery.size())
            : std::filesystem::path(name).stem().string();
    return {name, family, ""};
}

std::vector<spmv_case> family_members(const std::string& families,
                                      const std::vector<std::string>& sizes,
                                      std::span<const gallery_family> of) {
    std::vector<std::size_t> places;
    std::ranges::transform(sizes, std::back_inserter(places), place_of_size);
    std::ranges::sort(places);
    std::vector<const gallery_family*> chosen;
    std::istringstream names(families);
    for (std::string name; std::getline(names, name, ',');) {
        if (name == "all") {
            std::ranges::transform(of, std::back_inserter(chosen),
                                   [](const gallery_family& f) { return &f; });
        } else {
            chosen.push_back(&family_named(name, of));
        }
    }
    std::vector<spmv_case> result;
    for (const gallery_family* f : chosen) {
        for (const std::size_t place : places) {
            result.push_back(member(*f, place));
        }
    }
    return result;
}

std::vector<spmv_case> family_members(const std::string& families,
                                      const std::vector<std::string>& sizes) {
    return family_members(families, sizes, spmv_families);
}

double usual_millions(const std::string& size) {
    return size.empty() ? 0 : millions[place_of_size(size)];
}

spmv_case smallest_member(const spmv_case& c) {
    return member(family_named(c.family, spmv_families), 0);
}

} // namespace krylith::bench
