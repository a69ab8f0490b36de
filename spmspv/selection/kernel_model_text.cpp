// Kernel models as text, which scripts/train writes, and which the library has built in.
#include <krylith/spmspv/kernel_model.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/nearest_name.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/matrix/files/own_folder.hpp>

namespace krylith::spmspv {

namespace {

constexpr std::string_view heading = "krylith kernel model 1";

constexpr std::array<std::string_view, 3> patterns = {"spmv", "row", "column"};
constexpr std::array<std::string_view, 2> distributions = {"direct", "balanced"};
constexpr std::array<std::string_view, 2> write_backs = {"atomic", "sort"};

constexpr std::array<std::string_view, 4> tree_names = {"pattern", "row_distribution",
                                                        "column_distribution", "write_back"};

std::span<const std::string_view> labels_of(std::size_t tree) {
    if (tree == 0) return patterns;
    if (tree == 3) return write_backs;
    return distributions;
}

std::string quoted(std::string_view text) {
    std::string result = "'"; // gcc 12 warns of "'" + std::string
    return result.append(text) += '\'';
}

std::string listed(std::span<const std::string_view> names) {
    std::string all;
    for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
    return all;
}

/// Reads one model, line by line.
class model_reader {
public:
    model_reader(std::string_view text, const std::string& source) : rest_(text), source_(source) {}

    kernel_model read() {
        if (!next_line() || line_ != heading)
            refuse("the first line is " + quoted(line_.substr(0, 60)) + ", must be " +
                   quoted(heading));
        while (next_line()) {
            if (line_.empty() || line_.front() == '#') continue;
            take(word());
        }
        for (std::size_t k = 0; k < tree_names.size(); ++k)
            if (!found_[k])
                refuse("the end comes before 'tree " + std::string(tree_names[k]) + "'");
        if (!architecture_) refuse("the end comes before 'architecture'");
        return {name_.value_or(source_),
                *architecture_,
                origin_.value_or(""),
                tree(0),
                tree(1),
                tree(2),
                tree(3)};
    }

private:
    [[noreturn]] void refuse(const std::string& what) const { refuse(number_, what); }
    [[noreturn]] void refuse(int line, const std::string& what) const {
        throw input_error(source_ + ":" + std::to_string(line) + ": " + what);
    }

    bool next_line() {
        if (rest_.empty()) return false;
        ++number_;
        const std::size_t end = std::min(rest_.find('\n'), rest_.size());
        line_ = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        if (line_.ends_with('\r')) line_.remove_suffix(1);
        return true;
    }

    /// The next word of the line; empty at its end.
    std::string_view word() {
        line_.remove_prefix(std::min(line_.find_first_not_of(" \t"), line_.size()));
        const std::string_view found = line_.substr(0, line_.find_first_of(" \t"));
        line_.remove_prefix(found.size());
        return found;
    }

    std::string remainder() {
        line_.remove_prefix(std::min(line_.find_first_not_of(" \t"), line_.size()));
        return std::string(line_);
    }

    void take(std::string_view keyword) {
        if (keyword == "architecture") return once(architecture_, keyword);
        if (keyword == "name") return once(name_, keyword);
        if (keyword == "origin") return once(origin_, keyword);
        if (keyword == "tree") return begin_tree();
        if (keyword == "node") return add_node();
        if (keyword == "leaf") return add_leaf();
        refuse(quoted(keyword) +
               " begins the line; allowed are architecture, name, origin, tree, node, leaf");
    }

    void once(std::optional<std::string>& field, std::string_view keyword) {
        if (field) refuse("a second " + quoted(keyword));
        field = remainder();
    }

    std::size_t one_of(const char* what, std::span<const std::string_view> names) {
        const std::string_view given = word();
        const auto found = std::ranges::find(names, given);
        if (found == names.end()) {
            const std::string nearest = nearest_name(given, names);
            refuse(std::string(what) + " is " + quoted(given) + ", allowed are " + listed(names) +
                   (nearest.empty() ? "" : "; nearest is " + nearest));
        }
        return static_cast<std::size_t>(found - names.begin());
    }

    template <class T>
    T number(const char* what) {
        const std::string_view given = word();
        T value{};
        const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
        if (given.empty() || error != std::errc{} || end != given.data() + given.size())
            refuse(std::string(what) + " is " + quoted(given) + ", must be a number");
        return value;
    }

    void end_of_line() {
        if (const std::string_view more = word(); !more.empty())
            refuse(quoted(more) + " at the end of the line, must be nothing");
    }

    void begin_tree() {
        current_ = one_of("tree", tree_names);
        end_of_line();
        if (found_[current_])
            refuse("a second tree " + std::string(tree_names[current_]) +
                   ", the first is in line " + std::to_string(begins_[current_]));
        found_[current_] = true;
        begins_[current_] = number_;
    }

    void add(const tree_node& node) {
        end_of_line();
        nodes_[current_].push_back(node);
        lines_[current_].push_back(number_);
    }

    void add_node() {
        need_tree();
        tree_node node;
        node.tests = static_cast<feature>(one_of("feature", feature_names));
        node.threshold = number<double>("threshold");
        node.below = number<std::int32_t>("below");
        node.above = number<std::int32_t>("above");
        if (node.below == 0 && node.above == 0)
            refuse("below and above are 0, must be nodes behind");
        add(node);
    }

    void add_leaf() {
        need_tree();
        tree_node node;
        node.label = static_cast<std::int32_t>(one_of("label", labels_of(current_)));
        add(node);
    }

    void need_tree() const {
        if (current_ == tree_names.size()) refuse("a node before the first 'tree'");
    }

    decision_tree tree(std::size_t which) {
        const auto labels = static_cast<std::int32_t>(labels_of(which).size());
        if (const auto fault = find_fault(nodes_[which], labels)) {
            const auto& lines = lines_[which];
            refuse(lines.empty() ? begins_[which] : lines[fault->node],
                   "tree " + std::string(tree_names[which]) + ", node " +
                       std::to_string(fault->node) + ": " + fault->what);
        }
        return {std::move(nodes_[which]), labels};
    }

    std::string_view rest_;
    std::string source_;
    std::string_view line_;
    int number_ = 0;
    std::optional<std::string> architecture_;
    std::optional<std::string> name_;
    std::optional<std::string> origin_;
    std::size_t current_ = tree_names.size(); ///< the tree that nodes belong to
    std::array<bool, 4> found_{};
    std::array<int, 4> begins_{};
    std::array<std::vector<tree_node>, 4> nodes_;
    std::array<std::vector<int>, 4> lines_; ///< the lines of nodes
};

std::string on_one_line(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    std::ranges::replace(text, '\r', ' ');
    return text;
}

} // namespace

kernel_model parse_model(std::string_view text, const std::string& source) {
    return model_reader(text, source).read();
}

std::string to_text(const kernel_model& model) {
    std::string text = std::string(heading) + "\narchitecture " + on_one_line(model.architecture) +
                       "\nname " + on_one_line(model.name) + "\norigin " +
                       on_one_line(model.origin) + '\n';
    const std::array trees = {&model.direction, &model.row_distribution, &model.column_distribution,
                              &model.write_back};
    for (std::size_t k = 0; k < trees.size(); ++k) {
        text += "tree " + std::string(tree_names[k]) + '\n';
        for (const tree_node& node : trees[k]->nodes()) {
            if (node.leaf())
                text += "leaf " + std::string(labels_of(k)[static_cast<std::size_t>(node.label)]) +
                        '\n';
            else
                text += "node " + std::string(feature_names[static_cast<std::size_t>(node.tests)]) +
                        ' ' + number_text(node.threshold) + ' ' + std::to_string(node.below) + ' ' +
                        std::to_string(node.above) + '\n';
        }
    }
    return text;
}

kernel_model load_model(const std::filesystem::path& file) {
    return parse_model(read_text_file(file), file.string());
}

} // namespace krylith::spmspv
