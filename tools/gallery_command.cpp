// krylith gallery
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/matrix/gallery.hpp>
#include <krylith/tools/command.hpp>

namespace krylith::tool {

namespace {

exit_status run() {
    for (const gallery_entry& entry : gallery_names())
        fmt::print("gallery:{}:{}\n    {}\n", entry.name, entry.arguments, entry.help);
    return exit_status::success;
}

} // namespace

command add_gallery(CLI::App& parent) {
    CLI::App* app = parent.add_subcommand("gallery", "List the matrices that can be generated");
    return {app, run};
}

} // namespace krylith::tool
