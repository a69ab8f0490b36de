// A page about solves, to look at or to send: one file, nothing loaded from elsewhere.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json.hpp>

namespace krylith::tool {

/// What the page is made of.
struct page_entry {
    nlohmann::ordered_json report; ///< of `krylith solve --report FILE.json`
    std::string sparsity;          ///< a picture of the entries in SVG; empty: none
};

/// HTML that an XML parser reads, too. For each solve: what was solved on what, the convergence
/// with the tolerance, where the time went, the memory of each device, where the entries lie, the
/// diagnosis and the command to repeat it, and all fields of the report. Several solves begin with
/// a table of all and their curves in one picture. Fields that a report lacks are left out.
[[nodiscard]] std::string html_report(std::span<const page_entry> entries);

} // namespace krylith::tool
