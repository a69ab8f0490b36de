// "Did you mean ...?": the valid name that a mistyped one was meant for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace krylith {

/// A name that others use: `given` in lower case without - and _, and the valid name.
struct name_alias {
    std::string_view given;
    std::string_view meant;
};

/// Returns how many characters must be inserted, removed, replaced or swapped with their neighbour
/// to make one text the other (optimal string alignment). O(a b).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the valid name that the given one stands for, empty where none is near. Capitals, - and
/// _ don't count. The order is: the same name; the first alias for a valid name; the shortest name
/// that begins with the given one, of 2 characters at least; the first of those at the least
/// distance, which is at most a third of the characters given.
[[nodiscard]] std::string nearest_name(std::string_view given,
                                       std::span<const std::string_view> valid,
                                       std::span<const name_alias> aliases = {});

/// The end of a message about an unknown name: ": did you mean 'cg'? Valid are cg gmres", and
/// where none is near ": valid are cg gmres".
[[nodiscard]] std::string name_advice(std::string_view given,
                                      std::span<const std::string_view> valid,
                                      std::span<const name_alias> aliases = {});

} // namespace krylith
