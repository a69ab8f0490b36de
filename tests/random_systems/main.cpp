// Random linear systems, solved by krylith and judged without it: where a solve reports that it
// converged, b - A x is computed in extended precision from A, b and x as stored.
//
//     krylith_random_systems [--columns] [--seed S] [--first I] [--count N] [--kind NAME]
//                            [--backend cuda] [--patience SECONDS] [--verbose]
//
// With --columns a case is a batch of right-hand sides, which are solved at once and one by one: no
// column may end in another way than by itself.
//
// A case is told by the seed and its index alone; its kind is the index modulo the number of kinds.
// The exit status is 1 if anything was found, 2 for wrong usage.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <krylith/device/device_group.hpp>

#include <krylith/tests/random_systems/column_batch.hpp>
#include <krylith/tests/random_systems/trial.hpp>
#include <krylith/tests/random_systems/watchdog.hpp>

namespace {

using namespace random_systems;

struct request {
    std::uint64_t seed = 1;
    std::uint64_t first = 0;
    std::uint64_t count = 2000;
    std::string kind;
    bool cuda = false;
    bool columns = false;
    bool verbose = false;
    int patience = 60;
};

request parse(int argc, char** argv) {
    request r;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        const auto value = [&] {
            if (++i >= argc) throw std::invalid_argument(option + " needs a value");
            return std::string(argv[i]);
        };
        if (option == "--seed")
            r.seed = std::stoull(value());
        else if (option == "--first")
            r.first = std::stoull(value());
        else if (option == "--count")
            r.count = std::stoull(value());
        else if (option == "--patience")
            r.patience = std::stoi(value());
        else if (option == "--kind")
            r.kind = value();
        else if (option == "--columns")
            r.columns = true;
        else if (option == "--verbose")
            r.verbose = true;
        else if (option == "--backend")
            r.cuda = value() == "cuda";
        else
            throw std::invalid_argument("unknown option " + option);
    }
    bool known = r.kind.empty();
    for (const kind& k : all_kinds()) known = known || r.kind == k.name;
    if (!known) throw std::invalid_argument("there is no kind " + r.kind);
    return r;
}

/// The groups, made once: starting their threads takes time.
class groups {
public:
    explicit groups(bool cuda) : cuda_(cuda) {
        if (cuda && krylith::cuda_device_count() == 0)
            throw std::runtime_error("--backend cuda: there is no GPU here");
    }

    const krylith::device_group& of(int size) {
        const auto found = made_.find(size);
        if (found != made_.end()) return found->second;
        return made_.emplace(size, make(size)).first->second;
    }

private:
    [[nodiscard]] krylith::device_group make(int size) const {
        if (!cuda_) return krylith::device_group::host(size);
        const int present = krylith::cuda_device_count();
        std::vector<int> ordinals; // one GPU stands for several where there are too few
        for (int i = 0; i < size; ++i) ordinals.push_back(present < size ? i % present : i);
        return krylith::device_group::cuda(ordinals);
    }

    bool cuda_;
    std::map<int, krylith::device_group> made_;
};

struct tally {
    std::map<std::string, int> endings;
    std::map<finding, int> findings;
    int systems = 0;
    int converged = 0;

    void add(const outcome& o) {
        ++systems;
        ++endings[o.ending];
        ++findings[o.found];
        converged += o.converged ? 1 : 0;
    }
    void print(const char* name) {
        std::printf("%-24s %7d %9d %6d %11d %6d\n", name, systems, converged,
                    findings[finding::false_convergence], findings[finding::misreported],
                    findings[finding::failed]);
    }
};

/// Runs the cases of the request, which draw(seed, index, sizes of groups) makes.
template <class Draw>
int run(const request& r, const Draw& draw) {
    groups devices(r.cuda);
    std::map<std::string, tally> by_kind, by_solver;
    tally all;
    watch(r.patience);
    const std::string options = std::string(r.columns ? " --columns" : "") +
                                (r.cuda ? " --backend cuda" : "") + " --seed " +
                                std::to_string(r.seed);
    std::uint64_t done = 0;
    for (std::uint64_t index = r.first; done < r.count; ++index) {
        auto t = draw(r.seed, index, {1, 1, 1, 2, 2, 3, 7});
        if (!r.kind.empty() && r.kind != t.family->name) continue;
        ++done;
        if (r.cuda && t.devices == 7) t.devices = krylith::cuda_device_count();
        const std::string line = t.describe() + "\n    krylith_random_systems" + options +
                                 " --first " + std::to_string(index) + " --count 1";
        begin_case(line);
        const outcome o = random_systems::run(t, devices.of(t.devices), r.seed);
        all.add(o);
        by_kind[t.family->name].add(o);
        by_solver[std::string(t.solver->name)].add(o);
        if (o.found != finding::sound) {
            constexpr const char* names[] = {"", "FALSE", "MISREPORTED", "FAILED"};
            std::printf("%s %s\n    %s\n", names[static_cast<int>(o.found)], line.c_str(),
                        o.details.c_str());
        } else if (r.verbose) {
            std::printf("%s: %s\n", line.c_str(), o.ending.c_str());
        }
        std::fflush(stdout);
    }
    std::printf("%-24s %7s %9s %6s %11s %6s\n", "", "systems", "converged", "false", "misreported",
                "failed");
    for (auto& [name, counts] : by_kind) counts.print(name.c_str());
    for (auto& [name, counts] : by_solver) counts.print(name.c_str());
    all.print("all");
    for (const auto& [name, count] : all.endings) std::printf("%-24s %7d\n", name.c_str(), count);
    return all.findings[finding::sound] == all.systems ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    request r;
    try {
        r = parse(argc, argv);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "krylith_random_systems: %s\n", e.what());
        return 2;
    }
    try {
        return r.columns ? run(r, draw_columns) : run(r, draw);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "krylith_random_systems: %s\n", e.what());
        return 1;
    }
}
