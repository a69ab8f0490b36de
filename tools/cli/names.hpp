// Names that the command knows: those that options take, for checks, help and, by the help, the
// completion; what others call them; and that an unknown one is refused with the nearest.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <krylith/device/messages/nearest_name.hpp>

namespace krylith::tool {

/// Throws usage_error unless `given` is one of `valid`; `what` is the option in words ("solver").
/// `aliases` are what others call some of the valid names: suggested, not accepted.
void check_name(std::string_view what, std::string_view given,
                std::span<const std::string_view> valid, std::span<const name_alias> aliases = {});

/// Returns the enumerator of a name; the names are in the order of the enumerators. Throws as
/// check_name() does.
template <class Enum, std::size_t N>
[[nodiscard]] Enum by_name(std::string_view what, std::string_view given,
                           const std::array<std::string_view, N>& names) {
    check_name(what, given, names);
    return static_cast<Enum>(std::ranges::find(names, given) - names.begin());
}

/// What leaves the choice to krylith.
inline constexpr std::string_view automatic_name = "auto";

inline constexpr std::array<std::string_view, 2> precision_names = {"fp64", "fp32"};
inline constexpr std::array<std::string_view, 3> side_names = {"left", "right", "split"};
inline constexpr std::array<std::string_view, 3> execution_names = {"auto", "recorded", "eager"};
inline constexpr std::array<std::string_view, 3> backend_names = {"auto", "cuda", "host"};
inline constexpr std::string_view posted_transport = "posted"; ///< of several processes
inline constexpr std::array<std::string_view, 3> group_transport_names = {"auto", "staged",
                                                                          posted_transport};

/// "left|right|split", as help shows the type of an option.
[[nodiscard]] inline std::string alternatives(std::span<const std::string_view> names) {
    std::string text;
    for (const std::string_view name : names) (text += text.empty() ? "" : "|") += name;
    return text;
}

/// Where an option has several meanings, the first that the command at hand has is suggested.
inline constexpr std::array<name_alias, 35> option_aliases = {{
    {"tol", "--rtol"},
    {"tolerance", "--rtol"},
    {"eps", "--rtol"},
    {"reltol", "--rtol"},
    {"abstol", "--atol"},
    {"maxit", "--max-iterations"},
    {"maxits", "--max-iterations"},
    {"maxiter", "--max-iterations"},
    {"maxiters", "--max-iterations"},
    {"iterations", "--max-iterations"},
    {"niter", "--max-iterations"},
    {"method", "--solver"},
    {"ksptype", "--solver"},
    {"preconditioner", "--precond"},
    {"prec", "--precond"},
    {"pc", "--precond"},
    {"pctype", "--precond"},
    {"guess", "--x0"},
    {"initialguess", "--x0"},
    {"output", "--solution"},
    {"output", "--report"},
    {"out", "--solution"},
    {"out", "--output"},
    {"out", "--report"},
    {"json", "--report"},
    {"gpus", "--devices"},
    {"ngpus", "--devices"},
    {"numdevices", "--devices"},
    {"ndevices", "--devices"},
    {"nthreads", "--threads"},
    {"numthreads", "--threads"},
    {"time", "--seconds"},
    {"type", "--precision"},
    {"dtype", "--precision"},
    {"transposed", "--transpose"},
}};

} // namespace krylith::tool
