#include <krylith/bench/common/line_report.hpp>

#include <cstdio>

#include <krylith/bench/common/compiled_with.hpp>
#include <krylith/device/error.hpp>

namespace krylith::bench {

line_report::line_report(const std::string& program, const std::string& path, json header)
    : path_(path) {
    const build_facts build = compiled_with();
    json first = {{"program", program},
                  {"build",
                   {{"krylith", build.library},
                    {"compiler", build.compiler},
                    {"flags", build.flags},
                    {"cuda", build.cuda}}}};
    first.update(header);
    if (!path_.empty()) {
        file_.open(path_);
    }
    write(first);
}

void line_report::add(const json& row) {
    any_void_ = any_void_ || (row.contains("void_because") && !row.at("void_because").empty());
    write(row);
}

void line_report::skip(const std::string& what, const std::string& why) {
    std::fprintf(stderr, "skipped %s: %s\n", what.c_str(), why.c_str());
    write({{"skipped", what}, {"why", why}});
}

void line_report::refuse(const std::string& what, const std::string& why) {
    any_refused_ = true;
    skip(what, why);
}

void line_report::write(const json& line) {
    if (path_.empty()) {
        return;
    }
    file_ << line.dump() << '\n' << std::flush;
    if (!file_) {
        throw usage_error("can't write the report to '" + path_ + "'");
    }
}

} // namespace krylith::bench
