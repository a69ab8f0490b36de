// The parameters of a preconditioner in text, NAME[:KEY=VALUE]...: what a row of the table allows,
// and what a text gives.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace krylith {

/// What may stand behind a key. It is made by one of three functions, which take all that there is
/// to say of it.
class parameter_rule {
public:
    /// A whole number from `least` to `most`.
    [[nodiscard]] static constexpr parameter_rule whole(const char* key, std::int64_t usual,
                                                        std::int64_t least, std::int64_t most,
                                                        const char* help) {
        return {key,
                help,
                type::whole,
                static_cast<double>(usual),
                static_cast<double>(least),
                static_cast<double>(most),
                {}};
    }
    /// A number from `least` to `most`.
    [[nodiscard]] static constexpr parameter_rule real(const char* key, double usual, double least,
                                                       double most, const char* help) {
        return {key, help, type::real, usual, least, most, {}};
    }
    /// One of some words, the first unless another is given. `words` outlives the rule.
    [[nodiscard]] static constexpr parameter_rule
    word(const char* key, std::span<const std::string_view> words, const char* help) {
        return {key, help, type::word, 0, 0, 0, words};
    }

    [[nodiscard]] constexpr std::string_view key() const { return key_; }
    /// What it means, as a clause.
    [[nodiscard]] constexpr std::string_view help() const { return help_; }
    /// "1 to 64", or "first|fourth".
    [[nodiscard]] std::string allowed() const;
    /// The value without one in the text, as text.
    [[nodiscard]] std::string usual() const;
    [[nodiscard]] bool allows(std::string_view value) const;

private:
    enum class type { whole, real, word };

    constexpr parameter_rule(const char* key, const char* help, type kind, double usual,
                             double least, double most, std::span<const std::string_view> words)
        : key_(key),
          help_(help),
          type_(kind),
          usual_(usual),
          least_(least),
          most_(most),
          words_(words) {}

    std::string_view key_;
    std::string_view help_;
    type type_;
    double usual_;
    double least_;
    double most_;
    std::span<const std::string_view> words_;
};

/// A value for each rule of a row.
class method_parameters {
public:
    /// All values as usual.
    explicit method_parameters(std::span<const parameter_rule> rules);

    /// Takes the value of a key. Throws usage_error naming `method`, the key, the value and what is
    /// allowed.
    void set(std::string_view method, std::string_view key, std::string_view value);

    /// Return the value of a key that a rule has, of the type that the rule says.
    [[nodiscard]] std::int64_t whole(std::string_view key) const;
    [[nodiscard]] double real(std::string_view key) const;
    [[nodiscard]] const std::string& word(std::string_view key) const;

private:
    struct entry {
        const parameter_rule* rule;
        std::string value;
    };
    [[nodiscard]] const entry& find(std::string_view key) const;

    std::vector<entry> entries_; // in the order of the rules
};

} // namespace krylith
