// krylith gallery [NAME]
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/matrix/gallery.hpp>
#include <krylith/tools/cli/command.hpp>
#include <krylith/tools/cli/console.hpp>

namespace krylith::tool {

namespace {

void print_heading(const gallery_entry& entry) {
    print(stdout, fmt::format("gallery:{}:{}\n    {}\n", entry.name, entry.arguments, entry.help));
}

void print_all() {
    // From what is tried first to what is special, and groups that nobody put in order last.
    std::vector<std::string_view> groups = {"Laplacians", "Diffusion and waves", "Systems",
                                            "Graphs", "Random"};
    for (const gallery_entry& entry : gallery_names())
        if (std::ranges::find(groups, entry.group) == groups.end()) groups.push_back(entry.group);
    for (const std::string_view group : groups) {
        print(stdout, fmt::format("{}\n\n", group));
        for (const gallery_entry& entry : gallery_names())
            if (entry.group == group) print_heading(entry);
        print(stdout, fmt::format("\n"));
    }
    print(stdout,
          fmt::format(
              "krylith gallery NAME tells more about one. --spd, where a command has it, makes any "
              "of them\nsymmetric positive definite.\n"));
}

void print_one(const gallery_entry& entry) {
    constexpr std::size_t width = 92;
    print_heading(entry);
    print(stdout, fmt::format("    A small one is gallery:{}:{}.\n", entry.name,
                              static_cast<std::string_view>(entry.example)));
    std::string_view left = entry.details;
    while (!left.empty()) {
        const std::size_t end = left.size() <= width ? left.size() : left.rfind(' ', width);
        print(stdout, fmt::format("    {}\n", left.substr(0, end)));
        left.remove_prefix(std::min(end + 1, left.size()));
    }
}

} // namespace

command add_gallery(CLI::App& parent) {
    CLI::App* app = parent.add_subcommand(
        "gallery", "List the matrices that can be generated, or describe one of them");
    auto name = std::make_shared<std::string>();
    app->add_option("NAME", *name, "Say more about this one")->type_name("");
    return {app, [name] {
                if (name->empty()) {
                    print_all();
                } else {
                    print_one(gallery_named(*name));
                }
                return exit_status::success;
            }};
}

} // namespace krylith::tool
