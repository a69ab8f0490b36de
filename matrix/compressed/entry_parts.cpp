#include <krylith/matrix/compressed/entry_parts.hpp>

#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

std::vector<entry_place> divide_entries(const compressed_pattern& a, int parts) {
    std::vector<entry_place> places{{0, 0}};
    for (int part = 1; part < parts; ++part) {
        const std::int64_t entry =
            a.nonzeros() / parts * part + a.nonzeros() % parts * part / parts;
        const auto after = std::upper_bound(a.offsets.begin(), a.offsets.end(), entry);
        places.push_back({entry, after - a.offsets.begin() - 1});
    }
    places.push_back({a.nonzeros(), a.majors()});
    return places;
}

} // namespace krylith
