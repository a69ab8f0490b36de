#include <krylith/device/messages/nearest_name.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace krylith {

namespace {

/// The name without what people vary: capitals, hyphens, underscores.
std::string plain(std::string_view name) {
    std::string result;
    for (const char c : name)
        if (c != '-' && c != '_')
            result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return result;
}

bool holds(std::span<const std::string_view> names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

std::string_view shortest_completion(const std::string& given,
                                     std::span<const std::string_view> valid) {
    std::string_view shortest;
    if (given.size() < 2) return shortest;
    for (const std::string_view name : valid)
        if (plain(name).starts_with(given) && (shortest.empty() || name.size() < shortest.size()))
            shortest = name;
    return shortest;
}

std::string_view least_distant(const std::string& given, std::span<const std::string_view> valid) {
    std::string_view nearest;
    std::size_t least = given.size() / 3 + 1;
    for (const std::string_view name : valid)
        if (const std::size_t distance = edit_distance(given, plain(name)); distance < least) {
            least = distance;
            nearest = name;
        }
    return nearest;
}

} // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    // Rows of the table: the distances from the part of a so far, and from those one and two
    // characters shorter, to b[0..j).
    std::vector<std::size_t> row(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> last_but_one(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::swap(last_but_one, last);
        std::swap(last, row);
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            row[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, last[j + 1] + 1});
            if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
                row[j + 1] = std::min(row[j + 1], last_but_one[j - 1] + 1);
        }
    }
    return row.back();
}

std::string nearest_name(std::string_view given, std::span<const std::string_view> valid,
                         std::span<const name_alias> aliases) {
    const std::string wanted = plain(given);
    for (const std::string_view name : valid)
        if (plain(name) == wanted) return std::string(name);
    for (const name_alias& alias : aliases)
        if (alias.given == wanted && holds(valid, alias.meant)) return std::string(alias.meant);
    const std::string_view whole = shortest_completion(wanted, valid);
    return std::string(whole.empty() ? least_distant(wanted, valid) : whole);
}

std::string name_advice(std::string_view given, std::span<const std::string_view> valid,
                        std::span<const name_alias> aliases) {
    const std::string nearest = nearest_name(given, valid, aliases);
    std::string advice =
        nearest.empty() ? ": valid are" : ": did you mean '" + nearest + "'? Valid are";
    for (const std::string_view name : valid) advice.append(" ").append(name);
    return advice;
}

} // namespace krylith
