#include <krylith/solvers/automatic/method_plan.hpp>

#include <algorithm>
#include <cstdio>

#include <krylith/matrix/statistics.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/solver_table.hpp>

namespace krylith {

namespace {

/// What rows of preconditioners look at.
matrix_statistics statistics_of(const operator_facts& facts, std::int64_t rows) {
    matrix_statistics s;
    s.rows = s.columns = rows;
    if (!facts.diagonal) return s;
    const diagonal_facts& d = *facts.diagonal;
    s.diagonal.length = d.length;
    s.diagonal.zeros = d.length - d.positive - d.negative;
    s.diagonal.positive = d.positive;
    s.diagonal.negative = d.negative;
    s.diagonal.least = d.least;
    s.diagonal.most = d.most;
    s.diagonal.smallest = d.smallest;
    return s;
}

class planner {
public:
    planner(const operator_facts& facts, const plan_setting& setting)
        : facts_(facts), setting_(setting), words_(in_words(facts)) {}

    [[nodiscard]] std::vector<planned_method> plan() {
        if (setting_.varies) {
            for (const solver_method* solver : all_solvers)
                if (solver->takes_varying && (!solver->needs_spd || may_be_definite()))
                    add(*solver, nullptr, setting_.given_side, words_);
            return std::move(methods_);
        }
        if (may_be_definite())
            for (const solver_method* solver : all_solvers)
                if (solver->listed && solver->needs_spd) add_with_each(*solver);
        const auto general = usable(false);
        const auto cheap = std::ranges::find_if(general, is_pointwise);
        const preconditioner_method* const m = cheap == general.end() ? nullptr : *cheap;
        const preconditioner_method* const scaling = scaling_of_both_sides();
        const side usual = side_of(m);
        const side second = scales_rows(m) ? side::left : usual;
        const std::string again = methods_.empty() ? words_ : "in case it isn't definite";
        const preconditioner_method* const hierarchy = for_transport();
        const bool early = hierarchy != nullptr && !setting_.sample.easy() &&
                           *hierarchy->chosen_for_transport_from <= setting_.rows;
        const auto add_hierarchy = [&](const std::string& because) {
            for_general(true, [&](const solver_method& s) {
                add(s, hierarchy, side_of(hierarchy), because, costly_iterations);
            });
        };
        const auto add_short = [&](const std::string& because, std::int64_t most) {
            for_general(false, [&](const solver_method& s) { add(s, m, usual, because, most); });
        };
        if (early) add_hierarchy(words_ + ", like convection with diffusion");
        add_short(early ? "in case " + std::string(hierarchy->name) + " is no help" : again,
                  hierarchy != nullptr && !early ? cheap_iterations / 2 : 0);
        if (hierarchy != nullptr && !early) add_hierarchy("in case that takes too long");
        add_strong(general);
        if (hierarchy != nullptr && !early) add_short("in case the others are no help", 0);
        const auto add_scaled = [&](const solver_method& s) {
            if (s.has_sides)
                add(s, scaling, side::split, "rows and columns of one size are easier");
        };
        if (scaling != nullptr && m == nullptr) for_general(true, add_scaled);
        for_general(true, [&](const solver_method& s) {
            add(s, m, s.has_sides ? second : usual,
                second == usual ? "a long basis doesn't stall"
                                : "a long basis doesn't stall; the diagonal scales rows");
        });
        if (m != nullptr) {
            if (scaling != nullptr) for_general(true, add_scaled);
            const std::string without = "in case " + std::string(m->name) + " harms";
            for_general(true, [&](const solver_method& s) {
                add(s, nullptr, setting_.given_side, without);
            });
            if (second != usual)
                for_general(false, [&](const solver_method& s) {
                    if (s.has_sides) add(s, m, second, "the diagonal scales rows");
                });
        }
        add_least_squares();
        return std::move(methods_);
    }

private:
    [[nodiscard]] bool may_be_definite() const {
        return setting_.symmetric && facts_.may_be_positive_definite();
    }

    /// The rows that are of use, the best first.
    [[nodiscard]] std::vector<const preconditioner_method*> usable(bool spd) const {
        std::vector<const preconditioner_method*> found;
        if (setting_.source == preconditioner_source::given || !facts_.diagonal) return found;
        const bool matrix = setting_.source == preconditioner_source::matrix;
        const matrix_statistics s = statistics_of(facts_, setting_.rows);
        for (const preconditioner_method* row : all_preconditioners)
            if (row->chosen_from.get() && (matrix || !row->needs_matrix) &&
                !row->scales_both_sides && (spd || !row->needs_spd) &&
                row->no_use_because.get()(s).empty())
                found.push_back(row);
        // Those for larger systems come first where this one is large enough, else last.
        std::ranges::stable_sort(found, [&](const auto* a, const auto* b) {
            const std::int64_t of_a = chosen_from(*a);
            const std::int64_t of_b = chosen_from(*b);
            const bool fits_a = of_a <= setting_.rows;
            const bool fits_b = of_b <= setting_.rows;
            if (fits_a != fits_b) return fits_a;
            return fits_a ? of_a > of_b : of_a < of_b;
        });
        return found;
    }

    /// Vectors that A maps to nearly 0 make an M that takes them so much stronger that it pays
    /// sooner.
    [[nodiscard]] std::int64_t chosen_from(const preconditioner_method& row) const {
        const bool told = setting_.near_null && row.make_for_nodes.fp64 != nullptr;
        return *row.chosen_from.get() / (told ? gain_of_near_null : 1);
    }

    /// The first row that is for matrices like this one, which is not symmetric; null: none.
    [[nodiscard]] const preconditioner_method* for_transport() const {
        if (setting_.source != preconditioner_source::matrix || facts_.symmetric ||
            !facts_.diagonal || !facts_.diagonal->all_positive() || setting_.nodes ||
            !setting_.sample.like_transport())
            return nullptr;
        for (const preconditioner_method* row : all_preconditioners)
            if (row->chosen_for_transport_from) return row;
        return nullptr;
    }

    /// The first row that stands on both sides of a general matrix; null: none that can be had.
    [[nodiscard]] const preconditioner_method* scaling_of_both_sides() const {
        if (setting_.source == preconditioner_source::given) return nullptr;
        const bool matrix = setting_.source == preconditioner_source::matrix;
        for (const preconditioner_method* row : all_preconditioners)
            if (row->scales_both_sides && row->chosen_from.get() && (matrix || !row->needs_matrix))
                return row;
        return nullptr;
    }

    [[nodiscard]] bool has_hub() const {
        return static_cast<double>(setting_.longest_row) >=
                   hub_part * static_cast<double>(setting_.rows) &&
               !setting_.near_null && setting_.longest_row > 0;
    }

    /// Solvers that need a definite matrix: the cheap M, or none, and those that must be set up, in
    /// turns. Which is first depends on the size; the cheap one has the last word, since it takes
    /// whatever is definite.
    void add_with_each(const solver_method& solver) {
        const auto all = usable(true);
        const auto cheap_one = std::ranges::find_if(all, is_pointwise);
        const preconditioner_method* const cheap = cheap_one == all.end() ? nullptr : *cheap_one;
        std::vector<const preconditioner_method*> costly;
        for (const preconditioner_method* m : all)
            if (!is_pointwise(m) && m->needs_spd) costly.push_back(m);
        std::string because = words_;
        const auto try_next = [&](const preconditioner_method* m, std::int64_t most) {
            add(solver, m, side_of(m), because, most);
            because = m == nullptr ? "in case that takes too long"
                                   : "in case " + std::string(m->name) + " is no help";
        };
        const bool cheap_first = costly.empty() || setting_.sample.easy() ||
                                 chosen_from(*costly.front()) > setting_.rows;
        if (cheap_first || has_hub())
            try_next(cheap, costly.empty() ? 0 : cheap_first ? cheap_iterations : hub_iterations);
        if (costly.empty()) return;
        for (const preconditioner_method* m : costly) {
            try_next(m, *m->chosen_from.get() == never_first ? 0 : costly_iterations);
            if (m->stronger.empty() || setting_.nodes || setting_.near_null) continue;
            because = "in case " + std::string(m->name) + " was too weak";
            try_next(m, costly_iterations);
            methods_.back().parameters = m->stronger;
        }
        try_next(cheap, 0);
    }

    /// Adds restarted solvers with each M that isn't pointwise. Where a stronger variant of M isn't
    /// too large, it is tried after M itself.
    void add_strong(std::vector<const preconditioner_method*> rows) {
        std::erase_if(rows, [&](const preconditioner_method* m) {
            return is_pointwise(m) || *m->chosen_from.get() > setting_.rows;
        });
        for (const preconditioner_method* const row : rows) {
            const std::string name(row->name);
            const std::int64_t most = row == rows.back() ? 0 : costly_iterations;
            for_general(true, [&](const solver_method& s) {
                add(s, row, side_of(row), name + " takes what stalls others", most);
                if (row->stronger.empty() || setting_.nonzeros > most_strong_nonzeros) return;
                add(s, row, side_of(row), "in case " + name + " was too weak");
                methods_.back().parameters = row->stronger;
            });
        }
    }

    void add_least_squares() {
        if (!setting_.transposed || setting_.source == preconditioner_source::given) return;
        for (const solver_method* solver : all_solvers)
            if (solver->least_squares && !solver->for_comparison)
                add(*solver, nullptr, side::right, "in case A is singular");
    }

    [[nodiscard]] static bool is_pointwise(const preconditioner_method* m) { return m->pointwise; }

    /// The side that was asked for, but right where M can't be split: only what works entry by
    /// entry has a square root, and a real one where nothing is negative.
    [[nodiscard]] side side_of(const preconditioner_method* m) const {
        if (m == nullptr || setting_.given_side != side::split) return setting_.given_side;
        const bool real = m->scales_both_sides || facts_.diagonal->negative == 0;
        return m->pointwise && real ? side::split : side::right;
    }

    [[nodiscard]] bool scales_rows(const preconditioner_method* m) const {
        return m != nullptr && m->pointwise && facts_.diagonal->span() > wide_diagonal;
    }

    template <class Use>
    static void for_general(bool restarts, const Use& use) {
        for (const solver_method* solver : all_solvers)
            if (solver->listed && !solver->needs_spd && solver->restarts == restarts) use(*solver);
    }

    void add(const solver_method& solver, const preconditioner_method* m, side on_side,
             const std::string& because, std::int64_t most_iterations = 0) {
        methods_.push_back({&solver,
                            m,
                            on_side,
                            solver.restarts ? long_restart(setting_) : setting_.least_restart,
                            because,
                            most_iterations,
                            {}});
    }

    const operator_facts& facts_;
    const plan_setting& setting_;
    std::string words_;
    std::vector<planned_method> methods_;
};

/// "8", "250", "1e6".
std::string in_short(double value) {
    char text[32];
    if (value < 1000) {
        (void)std::snprintf(text, sizeof text, "%.2g", value);
        if (value >= 99.5) (void)std::snprintf(text, sizeof text, "%.0f", value);
        return text;
    }
    (void)std::snprintf(text, sizeof text, "%.0e", value);
    std::string s = text; // 1e+06
    const std::size_t sign = s.find("e+");
    if (sign == std::string::npos) return s;
    const std::size_t digits = std::min(s.find_first_not_of('0', sign + 2), s.size() - 1);
    return s.substr(0, sign + 1) + s.substr(digits);
}

} // namespace

int long_restart(const plan_setting& setting) {
    const std::int64_t rows = std::max<std::int64_t>(setting.rows, 1);
    const std::int64_t held =
        most_basis_bytes / (rows * static_cast<std::int64_t>(setting.value_bytes));
    const std::int64_t most = std::min<std::int64_t>(rows, 1000);
    return static_cast<int>(std::min(std::max<std::int64_t>(held, setting.least_restart), most));
}

std::string in_words(const operator_facts& facts) {
    std::string text = facts.symmetric ? "symmetric" : "not symmetric";
    if (!facts.diagonal) return text + ", diagonal unknown";
    const diagonal_facts& d = *facts.diagonal;
    const std::string varies =
        d.constant() ? "constant" : "varies by " + in_short(std::max(d.span(), 1.0));
    if (d.length == 0) return text + ", no rows";
    if (d.all_positive())
        text += ", positive diagonal " + varies;
    else if (d.negative == d.length)
        text += ", negative diagonal " + varies;
    else if (!d.invertible())
        text += ", " + std::to_string(d.length - d.positive - d.negative) + " of " +
                std::to_string(d.length) + " diagonal entries are 0";
    else
        text += ", diagonal of both signs";
    if (facts.symmetric && d.all_positive() && !facts.positive_forms)
        text += ", not positive definite";
    return text;
}

std::vector<planned_method> plan_methods(const operator_facts& facts, const plan_setting& setting) {
    return planner(facts, setting).plan();
}

} // namespace krylith
