// What all drivers must give alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <krylith/comm/communicator.hpp>

namespace krylith {

/// What a driver was given, by its name in messages, as text.
struct named_fact {
    std::string_view name;
    std::string text;
};

namespace detail {

void compare_facts(const communicator& comm, std::string_view who,
                   const std::vector<named_fact>& facts);

} // namespace detail

/// Throws usage_error for all drivers, which begins with `who` and names the first difference,
/// unless facts() of all are the same, in the same order. Costs nothing where there is one driver.
/// Collective.
template <class Facts>
void require_alike(const communicator& comm, std::string_view who, const Facts& facts) {
    if (!comm.has_one_driver()) detail::compare_facts(comm, who, facts());
}

} // namespace krylith
