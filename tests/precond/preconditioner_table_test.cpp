// The table of preconditioners: what its rows promise, and the texts that name them.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::problem;
using testing::random_values;

namespace {

constexpr std::array<std::string_view, 2> words = {"first", "fourth"};
constexpr parameter_rule rules[] = {
    parameter_rule::whole("degree", 8, 1, 64, "products an application"),
    parameter_rule::real("ratio", 30, 1, 1e6, "of the bounds"),
    parameter_rule::word("kind", words, "of the polynomial"),
};

void refuses(std::string_view key, std::string_view value, const char* words_of_it) {
    CAPTURE(std::string(key));
    CAPTURE(std::string(value));
    method_parameters p{rules};
    CHECK_THROWS_WITH_AS(p.set("shape", key, value), doctest::Contains(words_of_it), usage_error);
}

template <class T>
void keeps_promises(const device_group& group, const preconditioner_method& row) {
    const auto matrix = testing::converted<T>(poisson2d<double>(12, 11, random_scaling{3}));
    for (const auto kind : {operators::halo, operators::nz}) {
        problem<T> p(group, matrix, random_values<T>(matrix.rows, 221), {.kind = kind});
        const auto m = make_preconditioner(row.name, *p.a, csr_view<T>(matrix));
        CHECK(m.name().starts_with(row.name));
        CHECK(parse_preconditioner(m.name()).method == &row);
        std::optional<any_preconditioner<T>> from_devices;
        if (row.needs_matrix)
            CHECK_THROWS_WITH_AS((void)make_preconditioner(row.name, *p.a),
                                 doctest::Contains("needs the matrix"), usage_error);
        else
            from_devices = make_preconditioner(row.name, *p.a);
        if (from_devices) CHECK(m.name() == from_devices->name());
        CHECK(m.pointwise(p.b).has_value() == row.pointwise);
        const method_parameters usual{row.parameters.get()};
        std::int64_t most = 0;
        for (int rank = 0; rank < group.size(); ++rank)
            most = std::max(most, p.a->layout()->held(rank));
        const preconditioner_size size{most, matrix.nnz(), static_cast<std::int64_t>(sizeof(T))};
        if (const auto kept = row.kept_bytes.get()(size, usual))
            CHECK(m.bytes() <= *kept + 1024); // and small arrays
        if (const auto moved = row.moved_bytes.get()(size, usual)) CHECK(*moved > 0);
        for (const auto which : testing::all_methods) {
            CAPTURE(testing::name_of(which));
            if (which.row->needs_symmetric && !m.symmetric()) {
                CHECK_THROWS_AS((void)testing::solve(which, *p.a, p.b, p.x, {}, m), usage_error);
                continue;
            }
            const auto result = testing::solve(which, *p.a, p.b, p.x, {}, m);
            INFO(testing::describe(result));
            CHECK(result.converged());
            const auto solution = p.solution();
            if (!from_devices) continue;
            CHECK(testing::solve(which, *p.a, p.b, p.x, {}, *from_devices).converged());
            CHECK(testing::same_bits(p.solution(), solution));
        }
    }
}

} // namespace

KRYLITH_GROUP_TEST(
    "preconditioner table: every row makes a preconditioner that does what it says") {
    for (const preconditioner_method* row : all_preconditioners) {
        CAPTURE(std::string(row->name));
        keeps_promises<double>(group, *row);
        keeps_promises<float>(group, *row);
    }
}

TEST_CASE("preconditioner table: names are distinct, and no parameter is meant twice") {
    std::set<std::string_view> names = {"none", "identity", "no", "off"};
    for (const preconditioner_method* row : all_preconditioners) {
        CAPTURE(std::string(row->name));
        CHECK(names.insert(row->name).second);
        for (const std::string_view alias : row->aliases) CHECK(names.insert(alias).second);
        CHECK(row->name.find_first_of(":=|") == std::string_view::npos);
        CHECK_FALSE(row->help.empty());
        std::set<std::string_view> keys;
        for (const parameter_rule& rule : row->parameters.get()) {
            CHECK(keys.insert(rule.key()).second);
            CHECK_FALSE(rule.help().empty());
            CHECK(rule.allows(rule.usual()));
            const std::string text =
                std::string(row->name) + ":" + std::string(rule.key()) + "=" + rule.usual();
            CHECK(parse_preconditioner(text).method == row);
        }
        CHECK(parse_preconditioner(row->name).method == row);
    }
    CHECK(preconditioner_names().size() == all_preconditioners.size() + 1);
    CHECK(preconditioner_names().front() == "none");
    CHECK(parse_preconditioner("none").method == nullptr);
}

TEST_CASE("preconditioner table: a text that names none is refused with the nearest") {
    const auto says = [](std::string_view text, const char* advice) {
        CAPTURE(std::string(text));
        CHECK_THROWS_WITH_AS((void)parse_preconditioner(text), doctest::Contains(advice),
                             usage_error);
    };
    says("jacoby", "unknown preconditioner 'jacoby': did you mean 'jacobi'? Valid are none jacobi");
    says("diag", "did you mean 'jacobi'");
    says("Point-Jacobi", "did you mean 'jacobi'");
    says("identity", "did you mean 'none'");
    says("", "unknown preconditioner ''");
    says("jacobi:degree=3", "preconditioner jacobi takes no parameters, 'degree' is one");
    says("jacobi:", "preconditioner 'jacobi:': '' is no parameter, allowed is "
                    "jacobi[:KEY=VALUE]...");
    says("jacobi:degree", "'degree' is no parameter");
    says("none:degree=3", "preconditioner none takes no parameters");
}

TEST_CASE("preconditioner parameters: values as usual, values given") {
    method_parameters p{rules};
    CHECK(p.whole("degree") == 8);
    CHECK(p.real("ratio") == 30);
    CHECK(p.word("kind") == "first");
    p.set("shape", "degree", "64");
    p.set("shape", "ratio", "1.5e1");
    p.set("shape", "kind", "fourth");
    p.set("shape", "degree", "12"); // the last one counts
    CHECK(p.whole("degree") == 12);
    CHECK(p.real("ratio") == 15);
    CHECK(p.word("kind") == "fourth");
}

TEST_CASE("preconditioner parameters: errors name key, value and what is allowed") {
    refuses("degree", "0", "preconditioner shape: degree=0 is not allowed: allowed is 1 to 64");
    refuses("degree", "65", "degree=65");
    refuses("degree", "3.5", "degree=3.5");
    refuses("degree", "3x", "degree=3x");
    refuses("degree", "", "degree= is not allowed");
    refuses("degree", "99999999999999999999", "allowed is 1 to 64");
    refuses("ratio", "nan", "ratio=nan is not allowed: allowed is 1 to 1000000");
    refuses("ratio", "inf", "ratio=inf");
    refuses("ratio", "0.5", "ratio=0.5");
    refuses("kind", "third", "kind=third is not allowed: allowed is first|fourth");
    refuses("kind", "First", "first|fourth");
    refuses(
        "degre", "3",
        "preconditioner shape has no parameter 'degre': did you mean 'degree'? Valid are degree "
        "ratio kind");
}

} // namespace krylith
