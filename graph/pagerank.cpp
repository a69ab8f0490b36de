#include <krylith/graph/pagerank.hpp>

#include <set>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>

namespace krylith {

void pagerank_options::check() const {
    const auto refuse = [](const char* what, double found, const char* allowed) {
        throw usage_error(std::string("pagerank_options::") + what + " is " + number_text(found) +
                          ": allowed are " + allowed);
    };
    if (!(damping >= 0 && damping < 1)) refuse("damping", damping, "0 <= damping < 1");
    if (!(tolerance > 0 && tolerance < 1)) refuse("tolerance", tolerance, "0 < tolerance < 1");
    if (max_steps < 1) refuse("max_steps", static_cast<double>(max_steps), "1 and more");
    std::set<std::int64_t> met;
    for (const std::int64_t source : sources)
        if (!met.insert(source).second)
            throw usage_error("pagerank_options::sources has vertex " + std::to_string(source) +
                              " twice: allowed is each once");
}

} // namespace krylith
