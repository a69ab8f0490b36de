// A check of pictures that needs no XML library.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace krylith::test {

/// Elements that open are closed, in order; no stray < or &.
inline bool well_formed(const std::string& xml) {
    std::vector<std::string> open;
    std::size_t at = 0;
    while ((at = xml.find('<', at)) != std::string::npos) {
        const std::size_t end = xml.find('>', at);
        if (end == std::string::npos) return false;
        const std::string tag = xml.substr(at + 1, end - at - 1);
        if (tag.find('<') != std::string::npos) return false;
        const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
        if (tag.starts_with('/')) {
            if (open.empty() || open.back() != tag.substr(1)) return false;
            open.pop_back();
        } else if (!tag.ends_with('/')) {
            open.push_back(name);
        }
        at = end;
    }
    for (at = xml.find('&'); at != std::string::npos; at = xml.find('&', at + 1))
        if (xml.find(';', at) == std::string::npos || xml.find(';', at) > at + 5) return false;
    return open.empty() && xml.starts_with("<svg") && xml.ends_with("</svg>\n");
}

} // namespace krylith::test
