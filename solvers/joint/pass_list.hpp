// Several passes of a joint loop, one after the other.
#pragma once

namespace krylith {

template <class... Passes>
struct pass_list {
    /// Calls the template body() for each type of a pass, in order.
    template <class Body>
    static void for_each(const Body& body) {
        (body.template operator()<Passes>(), ...);
    }
};

} // namespace krylith
