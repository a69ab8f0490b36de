#include <krylith/precond/table/preconditioner_table.hpp>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/nearest_name.hpp>

namespace krylith {

namespace {

/// What others call M = I, in lower case.
constexpr std::array<std::string_view, 3> none_aliases = {"identity", "no", "off"};

/// Returns null for none.
const preconditioner_method* find(std::string_view name) {
    if (name == identity::name()) return nullptr;
    std::vector<name_alias> aliases;
    for (const preconditioner_method* row : all_preconditioners) {
        if (name == row->name) return row;
        for (const std::string_view alias : row->aliases) aliases.push_back({alias, row->name});
    }
    for (const std::string_view alias : none_aliases) aliases.push_back({alias, identity::name()});
    throw usage_error("unknown preconditioner '" + std::string(name) + "'" +
                      name_advice(name, preconditioner_names(), aliases));
}

template <class T>
any_preconditioner<T> make(std::string_view text, const matrix_operator<T>& a,
                           const matrix_ref<T>* matrix) {
    return a.comm().together([&]() -> any_preconditioner<T> {
        const preconditioner_choice choice = parse_preconditioner(text);
        if (choice.method == nullptr) return {};
        if (choice.method->needs_matrix && matrix == nullptr)
            throw usage_error("preconditioner " + std::string(choice.method->name) +
                              " needs the matrix: make_preconditioner(text, a, matrix)");
        return choice.method->make.get().template of<T>()(a, matrix, choice.parameters);
    });
}

} // namespace

std::vector<std::string_view> preconditioner_names() {
    std::vector<std::string_view> names = {identity::name()};
    for (const preconditioner_method* row : all_preconditioners) names.push_back(row->name);
    return names;
}

preconditioner_choice parse_preconditioner(std::string_view text) {
    const std::string_view name = text.substr(0, text.find(':'));
    const preconditioner_method* method = find(name);
    preconditioner_choice choice{method, method_parameters(method == nullptr
                                                               ? std::span<const parameter_rule>()
                                                               : method->parameters.get())};
    std::string_view rest = text.substr(name.size());
    while (!rest.empty()) { // it begins with a colon
        const std::string_view pair = rest.substr(1, rest.find(':', 1) - 1);
        rest.remove_prefix(1 + pair.size());
        const std::size_t sign = pair.find('=');
        if (sign == std::string_view::npos)
            throw usage_error("preconditioner '" + std::string(text) + "': '" + std::string(pair) +
                              "' is no parameter, allowed is " + std::string(name) +
                              "[:KEY=VALUE]...");
        choice.parameters.set(name, pair.substr(0, sign), pair.substr(sign + 1));
    }
    return choice;
}

template <class T>
any_preconditioner<T> make_preconditioner(std::string_view text, const matrix_operator<T>& a) {
    return make<T>(text, a, nullptr);
}

template <class T>
any_preconditioner<T> make_preconditioner(std::string_view text, const matrix_operator<T>& a,
                                          const std::type_identity_t<matrix_ref<T>>& matrix) {
    return make<T>(text, a, &matrix);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template any_preconditioner<T> make_preconditioner(std::string_view,                           \
                                                       const matrix_operator<T>&);                 \
    template any_preconditioner<T> make_preconditioner(                                            \
        std::string_view, const matrix_operator<T>&, const matrix_ref<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
