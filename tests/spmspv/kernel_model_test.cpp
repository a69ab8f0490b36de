// Kernel models: to text and back, what the reader refuses, the cascade, and the model that a
// device gets.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/device_group.hpp>
#include <krylith/device/error.hpp>
#include <krylith/spmspv/kernel_model.hpp>

#include <krylith/tests/support/cache_folder.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith::spmspv {

namespace {

const std::string head = "krylith kernel model 1\narchitecture host\nname a test\norigin by hand\n";
const std::string three = "tree row_distribution\nleaf direct\ntree column_distribution\n"
                          "node gini 0.25 1 2\nleaf direct\nleaf balanced\n"
                          "tree write_back\nnode entries 1000 1 2\nleaf sort\nleaf atomic\n";
const std::string whole = head +
                          "tree pattern\nnode effective_ratio 0.1 1 2\nleaf column\n"
                          "node effective_ratio 0.4 3 4\nleaf row\nleaf spmv\n" +
                          three;

std::string error_of(const std::string& text) {
    try {
        (void)parse_model(text, "MODEL");
    } catch (const input_error& e) {
        return e.what();
    }
    return "accepted";
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const std::size_t place = text.find(what);
    REQUIRE(place != std::string::npos);
    return text.replace(place, what.size(), by);
}

/// Sets KRYLITH_KERNEL_MODEL as long as it lives.
class model_variable {
public:
    explicit model_variable(const std::string& value) {
        setenv("KRYLITH_KERNEL_MODEL", value.c_str(), 1); // NOLINT(concurrency-mt-unsafe)
    }
    ~model_variable() { unsetenv("KRYLITH_KERNEL_MODEL"); } // NOLINT(concurrency-mt-unsafe)
    model_variable(const model_variable&) = delete;
    model_variable& operator=(const model_variable&) = delete;
};

void write(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

} // namespace

TEST_CASE("kernel model: text and back") {
    const kernel_model model = parse_model(whole, "MODEL");
    CHECK(model.architecture == "host");
    CHECK(model.name == "a test");
    CHECK(model.origin == "by hand");
    CHECK(to_text(model) == whole);
    CHECK(to_text(parse_model(replaced(whole, "tree pattern\n", "\n# why\r\ntree pattern\r\n"),
                              "MODEL")) == whole);
    CHECK(to_text(parse_model(whole.substr(0, whole.size() - 1), "MODEL")) == whole);
}

TEST_CASE("kernel model: thresholds keep every bit") {
    for (const char* const threshold : {"0.1", "0.30000000000000004", "1e-300", "5e-324",
                                        "1.7976931348623157e+308", "-3", "123456789012345680"}) {
        const std::string text = replaced(whole, "0.1 1 2", std::string(threshold) + " 1 2");
        const kernel_model once = parse_model(text, "MODEL");
        const kernel_model again = parse_model(to_text(once), "MODEL");
        CHECK(once.direction.nodes().front().threshold == std::strtod(threshold, nullptr));
        CHECK(once.direction.nodes().front().threshold ==
              again.direction.nodes().front().threshold);
    }
}

TEST_CASE("kernel model: ends of lines in a name don't break the file") {
    kernel_model model = parse_model(whole, "MODEL");
    model.name = "two\nlines";
    CHECK(parse_model(to_text(model), "MODEL").name == "two lines");
}

TEST_CASE("kernel model: what is wrong is said with its line") {
    CHECK(error_of("").starts_with("MODEL:0: the first line is ''"));
    CHECK(error_of("krylith kernel model 2\n") ==
          "MODEL:1: the first line is 'krylith kernel model 2', must be 'krylith kernel model 1'");
    CHECK(error_of(replaced(whole, "effective_ratio 0.4", "effective_ration 0.4")) ==
          "MODEL:8: feature is 'effective_ration', allowed are rows, columns, nonzeros, "
          "longest_row, shortest_row, mean_row, relative_range, deviation, gini, entries, density, "
          "effective_nonzeros, effective_ratio, has_pairs, has_dense, has_bits, wants_pairs, "
          "expected_nonzeros, most_nonzeros, knows_work; nearest is effective_ratio");
    CHECK(error_of(replaced(whole, "leaf row", "leaf rows")) ==
          "MODEL:9: label is 'rows', allowed are spmv, row, column; nearest is row");
    CHECK(error_of(replaced(whole, "leaf sort", "leaf direct")).starts_with("MODEL:19: label is"));
    CHECK(error_of(replaced(whole, "0.4 3 4", "0.4x 3 4")) ==
          "MODEL:8: threshold is '0.4x', must be a number");
    CHECK(error_of(replaced(whole, "0.4 3 4", "0.4 3")) ==
          "MODEL:8: above is '', must be a number");
    CHECK(error_of(replaced(whole, "0.4 3 4", "0.4 3 4 5")) ==
          "MODEL:8: '5' at the end of the line, must be nothing");
    CHECK(error_of(replaced(whole, "0.4 3 4", "nan 3 4")) ==
          "MODEL:8: tree pattern, node 2: threshold is nan, must be finite");
    CHECK(error_of(replaced(whole, "0.4 3 4", "0.4 3 7")) ==
          "MODEL:8: tree pattern, node 2: above is 7, must be 3 to 4");
    CHECK(error_of(replaced(whole, "0.4 3 4", "0.4 99999999999 4")) ==
          "MODEL:8: below is '99999999999', must be a number");
    CHECK(error_of(replaced(whole, "0.4 3 4", "0.4 0 0")) ==
          "MODEL:8: below and above are 0, must be nodes behind");
    CHECK(error_of(
              replaced(whole, "tree row_distribution\nleaf direct\n", "tree row_distribution\n")) ==
          "MODEL:11: tree row_distribution, node 0: there are no nodes, must be at least 1");
    CHECK(error_of(whole + "tree pattern\n") ==
          "MODEL:21: a second tree pattern, the first is in line 5");
    CHECK(error_of(whole + "name another\n") == "MODEL:21: a second 'name'");
    CHECK(error_of(whole + "branch 1\n") ==
          "MODEL:21: 'branch' begins the line; allowed are architecture, name, origin, tree, node, "
          "leaf");
    CHECK(error_of(head + "leaf spmv\n") == "MODEL:5: a node before the first 'tree'");
    CHECK(error_of(head + three) == "MODEL:14: the end comes before 'tree pattern'");
    CHECK(error_of(replaced(whole, "architecture host\n", "")) ==
          "MODEL:19: the end comes before 'architecture'");
}

TEST_CASE("kernel model: the cascade asks the trees of the pattern only") {
    const kernel_model model = parse_model(whole, "MODEL");
    std::vector<feature> asked;
    const auto choose = [&](double ratio, double gini, double entries) {
        asked.clear();
        return choose_kernel(model, [&](feature f) {
            asked.push_back(f);
            return f == feature::effective_ratio ? ratio : f == feature::gini ? gini : entries;
        });
    };
    CHECK(choose(0.5, 1, 1e9) == kernel::spmv);
    CHECK(asked == std::vector<feature>{feature::effective_ratio, feature::effective_ratio});
    CHECK(choose(0.2, 1, 1e9) == kernel::row);
    CHECK(choose(0.05, 0, 1e9) == kernel::column_atomic);
    CHECK(choose(0.05, 0, 10) == kernel::column_sort);
    CHECK(choose(0.05, 1, 1e9) == kernel::column_balanced_atomic);
    CHECK(choose(0.05, 1, 10) == kernel::column_balanced_sort);
    CHECK(asked == std::vector<feature>{feature::effective_ratio, feature::gini, feature::entries});
}

namespace {

/// All features of a product of many nonzeros; it counts how often effective nonzeros are asked
/// for.
struct counted_features {
    feature_values all{};
    bool known = false;
    int asked = 0;

    double operator()(feature f) {
        if (f == feature::knows_work) return known ? 1 : 0;
        if (f == feature::effective_nonzeros || f == feature::effective_ratio) {
            asked += known ? 0 : 1;
            known = true;
        }
        return all[static_cast<std::size_t>(f)];
    }
};

/// Features for several densities of x and all forms, on a square matrix of this many rows.
std::vector<feature_values> some_products(std::int64_t rows, std::int64_t mean_row) {
    const std::int64_t nonzeros = rows * mean_row;
    const auto mean = static_cast<double>(mean_row);
    const matrix_features a{rows, rows, nonzeros, 4 * mean, 1, mean, 1e-3, mean / 2, 0.3};
    std::vector<feature_values> products;
    for (const double density : {1e-6, 1e-4, 1e-2, 0.1, 0.5, 0.9})
        for (const double more : {0.5, 1.0, 4.0}) // nonzeros in its columns, of the mean
            for (int forms = 0; forms < 6; ++forms) {
                vector_features x;
                x.density = density;
                x.entries = density * static_cast<double>(rows);
                x.expected_nonzeros = density * static_cast<double>(nonzeros);
                x.most_nonzeros = std::min(4 * x.expected_nonzeros, static_cast<double>(nonzeros));
                x.effective_ratio = std::min(1.0, more * density);
                x.effective_nonzeros = x.effective_ratio * static_cast<double>(nonzeros);
                x.has_pairs = forms % 3 == 0;
                x.has_dense = !x.has_pairs;
                x.has_bits = forms % 3 == 2;
                x.wants_pairs = forms >= 3;
                products.push_back(join(a, x));
            }
    return products;
}

} // namespace

TEST_CASE("kernel model: the built-in ones count nothing for products that are soon done") {
    for (const backend kind : {backend::host, backend::cuda})
        for (const std::int64_t rows : {1000, 50000, 1000000})
            for (const std::int64_t mean_row : {2, 7, 40})
                for (const feature_values& product : some_products(rows, mean_row)) {
                    if (product[static_cast<std::size_t>(feature::expected_nonzeros)] > 1e7)
                        continue;
                    counted_features guess{product};
                    (void)choose_kernel(built_in_model(kind), std::ref(guess));
                    CHECK(guess.asked == 0);
                    CHECK_FALSE(guess.known);
                }
}

TEST_CASE("kernel model: what one tree has counted, the trees behind it know") {
    // Two paths lead to one node, which asks; the distribution has a tree for each case.
    const std::string text =
        head +
        "tree pattern\nnode knows_work 0.5 1 3\nnode expected_nonzeros 1234567 2 3\nleaf column\n"
        "node effective_ratio 0.5 4 5\nleaf column\nleaf spmv\n"
        "tree row_distribution\nleaf direct\n"
        "tree column_distribution\nnode knows_work 0.5 1 2\nleaf balanced\nleaf direct\n"
        "tree write_back\nleaf atomic\n";
    const kernel_model model = parse_model(text, "MODEL");
    CHECK(to_text(model) == text);
    const auto choose = [&](bool known, double expected, int asked) {
        counted_features f{join({}, {.effective_ratio = 0.1, .expected_nonzeros = expected})};
        f.known = known;
        const kernel chosen = choose_kernel(model, std::ref(f));
        CHECK(f.asked == asked);
        return chosen;
    };
    CHECK(choose(false, 1e5, 0) == kernel::column_balanced_atomic);
    CHECK(choose(false, 1e7, 1) == kernel::column_atomic);
    CHECK(choose(true, 1e5, 0) == kernel::column_atomic);
}

TEST_CASE("kernel model: both built-in ones are sound and say where they are from") {
    CHECK(built_in_model(backend::host).architecture == "host");
    CHECK(built_in_model(backend::cuda).architecture == "cuda:sm_90");
    for (const backend kind : {backend::host, backend::cuda}) {
        const kernel_model& model = built_in_model(kind);
        CHECK_FALSE(model.name.empty());
        CHECK_FALSE(model.origin.empty());
        CHECK(model.direction.depth() <= 15); // 12, knows_work and the gate's two
        CHECK(to_text(parse_model(to_text(model), "MODEL")) == to_text(model));
        const auto whatever = [](feature) { return 1.0; };
        CHECK(static_cast<int>(choose_kernel(model, whatever)) < kernel_count);
    }
}

KRYLITH_GROUP_TEST("kernel model: of a device by variable, cache folder, or built in") {
    const testing::cache_folder cache;
    device& device = group[0];
    const std::string architecture = architecture_of(device);
    if (device.kind() == backend::host)
        CHECK(architecture == "host");
    else
        CHECK(architecture.starts_with("cuda:sm_"));
    CHECK(to_text(model_for(device)) ==
          to_text(used_on(built_in_model(device.kind()), architecture)));

    const std::filesystem::path file = model_file(device);
    CHECK(file.parent_path() == cache.path);
    CHECK(file.filename().string().find(':') == std::string::npos);
    const std::string mine = replaced(whole, "architecture host", "architecture " + architecture);
    write(file, mine);
    CHECK(to_text(model_for(device)) == mine);

    const std::filesystem::path other = cache.path / "other.txt";
    write(other, replaced(mine, "a test", "another"));
    {
        const model_variable variable(other.string());
        CHECK(model_for(device).name == "another");
    }
    {
        const model_variable variable((cache.path / "missing").string());
        CHECK_THROWS_AS((void)model_for(device), input_error);
    }
    write(other, replaced(mine, "architecture " + architecture, "architecture toaster"));
    {
        const model_variable variable(other.string());
        CHECK_THROWS_WITH_AS((void)model_for(device),
                             doctest::Contains("is for architecture 'toaster'"), input_error);
    }
    CHECK(to_text(model_for(device)) == mine);

    write(file, "krylith kernel model 0\n"); // of another version
    const kernel_model stand_in = model_for(device);
    CHECK(stand_in.name == used_on(built_in_model(device.kind()), architecture).name);
    CHECK(stand_in.origin.find("built in, since " + file.string() + ":1:") != std::string::npos);
}

TEST_CASE("kernel model: one of another architecture says so") {
    const kernel_model& model = built_in_model(backend::cuda);
    CHECK(to_text(used_on(model, "cuda:sm_90")) == to_text(model));
    const kernel_model elsewhere = used_on(model, "cuda:sm_80");
    CHECK(elsewhere.name == model.name + ", trained for cuda:sm_90, not cuda:sm_80");
    CHECK(elsewhere.architecture == "cuda:sm_90");
    CHECK(to_text(parse_model(to_text(elsewhere), "test")) == to_text(elsewhere));
}

} // namespace krylith::spmspv
