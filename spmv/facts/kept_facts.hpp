// What an operator keeps of the choices that were made for it.
#pragma once

#include <memory>

namespace krylith {

struct operator_facts;

struct kept_facts {
    std::shared_ptr<const operator_facts> facts; ///< of facts_of(); null since the last new values
    std::shared_ptr<void> preconditioner;        ///< that solve() made last, or null
};

} // namespace krylith
