#include <krylith/tools/parts/missing_part.hpp>

#include <CLI/CLI.hpp>

#include <krylith/device/error.hpp>

namespace krylith::tool {

command add_missing_part(CLI::App& parent, const std::string& name, const std::string& option) {
    CLI::App* app = parent.add_subcommand(name, "Not in this krylith (" + option + "=OFF)");
    app->allow_extras();
    return {app, [=]() -> exit_status {
                throw usage_error("this krylith was built without " + name + " (" + option +
                                  "=OFF): build it with " + option + "=ON");
            }};
}

} // namespace krylith::tool
