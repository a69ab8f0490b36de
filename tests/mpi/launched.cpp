// A program that is linked with no MPI, and that launchers of any MPI start.
//
//     krylith_launched_tests together N   is one of N processes, and fails where they don't meet
//
//     krylith_launched_tests lost         says what the first throws where another never comes
//
//     krylith_launched_tests alone        fails where it is linked with others
//
//     krylith_launched_tests refused      fails where a link is made
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <krylith/comm/driver_link.hpp>
#include <krylith/device/error.hpp>

using namespace krylith;

namespace {

/// Two links over MPI_COMM_WORLD at once: MPI is initialised by the first.
bool meets(int processes) {
    const auto first = link_launched_processes();
    const auto second = open_link("", {}, 60);
    if (!first || first->drivers() != processes || second->drivers() != processes) return false;
    const auto own = static_cast<std::size_t>(first->driver());
    const auto all = first->all_gather(std::vector<std::byte>(own * 100));
    for (std::size_t k = 0; k < all.size(); ++k)
        if (all[k].size() != k * 100) return false;
    return second->all_gather({}).size() == all.size();
}

/// The last process lives and doesn't come. The others must end, which MPI_Finalize would not.
int lose_one() {
    const auto link = link_launched_processes(0.5);
    if (link->driver() == link->drivers() - 1) std::this_thread::sleep_for(std::chrono::hours(1));
    (void)link->all_gather({});
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    const std::string wanted = argc > 1 ? argv[1] : "";
    try {
        if (wanted == "together" && argc == 3) return meets(std::atoi(argv[2])) ? 0 : 1;
        if (wanted == "lost") return lose_one();
        const bool alone = !link_launched_processes();
        return wanted == "alone" && alone ? 0 : 1;
    } catch (const usage_error& failed) {
        std::printf("%s\n", failed.what());
        return wanted == "refused" ? 0 : 2;
    } catch (const error& failed) {
        std::printf("%s\n", failed.what());
        return 5;
    }
}
