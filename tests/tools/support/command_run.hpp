// Runs the built krylith command as a user does.
#pragma once

#include <string>

#include <krylith/tests/matrix/support/contains.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

namespace krylith::test {

struct command_result {
    int status;
    std::string out;
    std::string err;
};

/// The path of the built command.
[[nodiscard]] const char* command_path();

/// Whether `krylith bench` has benchmarks (KRYLITH_BENCH): sanitizer builds go without.
[[nodiscard]] bool has_benchmarks();

/// Arguments of a solve that takes no time; others may follow.
inline const std::string small_solve = "solve gallery:poisson2d:20 --backend host ";

/// `arguments` as in a shell, run in `folder`.
[[nodiscard]] command_result run_krylith(const temporary_folder& folder,
                                         const std::string& arguments);

/// A command of the shell, run in `folder`.
[[nodiscard]] command_result run_shell(const temporary_folder& folder, const std::string& command);

} // namespace krylith::test
