// The report of a run of krylith solve.
#pragma once

#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <krylith/tests/tools/support/command_run.hpp>

namespace krylith::test {

/// On host devices; `arguments` stand behind `solve`, in `folder`.
[[nodiscard]] inline nlohmann::json report_of(const temporary_folder& folder,
                                              const std::string& arguments) {
    const auto result =
        run_krylith(folder, "solve " + arguments + " --backend host --quiet --report -");
    CHECK_MESSAGE(result.status <= 1, result.err);
    return nlohmann::json::parse(result.out);
}

} // namespace krylith::test
