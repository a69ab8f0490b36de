#include <krylith/bench/common/line_report.hpp>

#include <cstdio>

#include <krylith/device/error.hpp>
#include <krylith/tools/cli/console.hpp>
#include <krylith/tools/cli/printable.hpp>

namespace krylith::bench {

line_report::line_report(const std::string& benchmark, const std::string& path, json header)
    : path_(path) {
    json first = {{"benchmark", benchmark}, {"build", build_facts_json()}};
    first.update(header);
    if (!path_.empty() && path_ != "-") {
        file_.open(path_);
    }
    write(first);
}

void line_report::say(std::string_view text) const {
    std::FILE* const out = path_ == "-" ? stderr : stdout;
    tool::print(out, text);
    (void)std::fflush(out); // finish_console() reports a failure
}

void line_report::add(const json& row) {
    any_void_ = any_void_ || (row.contains("void_because") && !row.at("void_because").empty());
    write(row);
}

void line_report::skip(const std::string& what, const std::string& why) {
    tool::print(stderr, "skipped " + tool::one_line(what) + ": " + tool::one_line(why) + "\n");
    write({{"skipped", what}, {"why", why}});
}

void line_report::refuse(const std::string& what, const std::string& why) {
    refused_ += (refused_.empty() ? "" : "; ") + why;
    write({{"skipped", what}, {"why", why}});
}

bool line_report::finish() const {
    if (any_void_) {
        say("\nRows marked VOID failed a check: their times mean nothing.\n");
    }
    if (!refused_.empty()) {
        throw input_error(refused_);
    }
    return !any_void_;
}

void line_report::write(const json& line) {
    const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    if (path_ == "-") {
        tool::print_raw(stdout, text);
    } else if (!path_.empty()) {
        file_ << text << std::flush;
        if (!file_) {
            throw input_error("--report " + path_ + " can't be written");
        }
    }
}

} // namespace krylith::bench
