// Several passes of a joint loop, one after the other.
#pragma once

namespace krylith {

template <class... Passes>
struct pass_list {
    /// Calls body.template operator()<Pass>() for each, in order.
    template <class Body>
    static void for_each(const Body& body) {
        (body.template operator()<Passes>(), ...);
    }
};

} // namespace krylith
