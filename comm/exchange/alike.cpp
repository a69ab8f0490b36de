#include <krylith/comm/exchange/alike.hpp>

#include <krylith/device/error.hpp>

namespace krylith::detail {

void compare_facts(const communicator& comm, std::string_view who,
                   const std::vector<named_fact>& facts) {
    std::vector<char> given;
    for (const named_fact& fact : facts) {
        given.insert(given.end(), fact.text.begin(), fact.text.end());
        given.push_back('\0');
    }
    auto all = by_rank(comm, [&](int) { return given; });
    comm.all_gather_lists(all);
    const auto texts_of = [](const std::vector<char>& of_rank) {
        std::vector<std::string> texts;
        for (const char c : of_rank) {
            if (texts.empty()) texts.emplace_back();
            c == '\0' ? void(texts.emplace_back()) : texts.back().push_back(c);
        }
        return texts;
    };
    const auto first = texts_of(all.front());
    for (int rank = 1; rank < comm.ranks(); ++rank) {
        const auto theirs = texts_of(all[static_cast<std::size_t>(rank)]);
        agreement::check_step(theirs.size() == first.size());
        for (std::size_t k = 0; k < facts.size(); ++k)
            if (theirs[k] != first[k])
                throw usage_error(std::string(who) + ": all drivers must give the same " +
                                  std::string(facts[k].name) + ", which is " + first[k] +
                                  " for rank 0 and " + theirs[k] + " for rank " +
                                  std::to_string(rank));
    }
}

} // namespace krylith::detail
