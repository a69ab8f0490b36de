// Rows a device from which an iteration of CG on 2 and 4 devices is faster than on one, by the cost
// model at the rates of H200s. It needs no device.
#pragma once

namespace CLI {
class App;
}

namespace krylith::bench {

struct break_even_request {};

/// The benchmark has no options.
inline void add_options(CLI::App& /*app*/, break_even_request& /*q*/) {}

class break_even_run {
public:
    explicit break_even_run(const break_even_request& /*request*/) {}

    /// Prints a table of Markdown.
    [[nodiscard]] bool run() const;
};

} // namespace krylith::bench
