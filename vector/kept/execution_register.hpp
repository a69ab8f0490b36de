// A register that an object uses in all executions that it takes part in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <krylith/vector/execution.hpp>

namespace krylith {

/// An execution has few registers and may hold many applications of a preconditioner, which all
/// use the same one. The register is made at the first use in an execution.
class execution_register {
public:
    [[nodiscard]] std::uint8_t in(execution& run) {
        const auto known = std::ranges::find(registers_, run.identity(),
                                             &std::pair<std::uint64_t, std::uint8_t>::first);
        if (known != registers_.end()) return known->second;
        constexpr std::size_t executions_at_once = 16;
        if (registers_.size() == executions_at_once) registers_.erase(registers_.begin());
        registers_.emplace_back(run.identity(), run.new_register());
        return registers_.back().second;
    }

private:
    std::vector<std::pair<std::uint64_t, std::uint8_t>> registers_; ///< by execution
};

} // namespace krylith
