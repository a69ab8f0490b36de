#include <krylith/matrix/files/file_report.hpp>

namespace krylith {

std::string in_words(const file_report& report) {
    std::string words = report.layout + " " + report.field + " " + report.symmetry + ", " +
                        std::to_string(report.entries) +
                        (report.entries == 1 ? " entry" : " entries");
    const auto add = [&](std::int64_t count, const char* one, const char* several) {
        if (count > 0) {
            words += "; " + std::to_string(count) + (count == 1 ? one : several);
        }
    };
    add(report.duplicates, " duplicate was added to the first of its place",
        " duplicates were added to the first of their place");
    add(report.rounded, " whole number was rounded to the nearest that fits",
        " whole numbers were rounded to the nearest that fit");
    add(report.vanished, " magnitude too small for the type became zero",
        " magnitudes too small for the type became zero");
    add(report.ignored, " number behind a pattern entry was ignored",
        " numbers behind pattern entries were ignored");
    return words;
}

} // namespace krylith
