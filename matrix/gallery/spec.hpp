// The text that names a matrix of the gallery: "NAME:ARGUMENT:ARGUMENT...:KEY=VALUE...".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/matrix/gallery/random_scaling.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

/// A spec taken apart. Refusals are usage_errors that name the argument and what is allowed.
class gallery_spec {
public:
    explicit gallery_spec(std::string_view text);
    gallery_spec(const gallery_spec&) = delete; // members are views into the own text
    gallery_spec& operator=(const gallery_spec&) = delete;

    [[nodiscard]] std::string_view name() const noexcept { return name_; }
    /// The number of positional arguments.
    [[nodiscard]] std::size_t count() const noexcept { return arguments_.size(); }
    /// Throws unless there are least to most positional arguments and each KEY stands in
    /// `arguments` as "[:KEY=...]".
    void check(std::size_t least, std::size_t most, std::string_view arguments) const;

    /// Argument `position` (from 0), which users know as `what`.
    [[nodiscard]] std::int64_t size(std::size_t position, const char* what,
                                    std::int64_t most = index_limit, std::int64_t least = 1) const;
    /// Argument `position` likewise, or `fallback` if it is not given.
    [[nodiscard]] std::int64_t size_or(std::int64_t fallback, std::size_t position,
                                       const char* what, std::int64_t most = index_limit) const;
    [[nodiscard]] double not_negative(std::size_t position, const char* what) const;
    [[nodiscard]] double number(std::size_t position, const char* what, double least,
                                double most) const;
    [[nodiscard]] std::uint64_t seed(std::size_t position, const char* what) const;

    /// The scaling of random=SEED.
    [[nodiscard]] std::optional<random_scaling> random() const;
    /// The seed of seed=SEED.
    [[nodiscard]] std::optional<std::uint64_t> named_seed() const;
    /// The number of KEY=NUMBER.
    [[nodiscard]] double named_number(std::string_view key, double fallback, double least,
                                      double most) const;

    /// Throws a usage_error about the spec as a whole.
    [[noreturn]] void refuse(const std::string& why) const;

private:
    [[noreturn]] void refuse_argument(std::string_view what, std::string_view given,
                                      const std::string& allowed) const;
    [[nodiscard]] std::uint64_t read_seed(std::string_view what, std::string_view given) const;
    [[nodiscard]] double read_number(std::string_view what, std::string_view given, double least,
                                     double most) const;
    [[nodiscard]] std::optional<std::string_view> named(std::string_view key) const;

    struct named_argument {
        std::string_view key; ///< with the =
        std::string_view value;
    };

    std::string text_;
    std::string_view name_;
    std::vector<std::string_view> arguments_;
    std::vector<named_argument> named_;
};

} // namespace krylith
