// The table of a link (comm/link.h) over an MPI communicator. It needs MPI-3 and
// MPI_THREAD_FUNNELED, and nothing of krylith's library: libkrylith_link_*, which are built from
// it, need none either.
//
// One thread at a time uses the links of a process. What MPI reads and writes where a link has
// broken stays in memory; nothing calls MPI once MPI_Finalize has.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <krylith/adapters/mpi/link_family.hpp>

namespace krylith::mpi {

/// The families of this process, until MPI_Finalize.
struct link_families {
    std::vector<link_family*> all;
    int of_comm = MPI_KEYVAL_INVALID;    ///< the key of a communicator's family
    int of_process = MPI_KEYVAL_INVALID; ///< that of MPI_COMM_SELF, whose attributes go first
    bool finalized = false;
};

inline link_families& families() {
    static auto* const known = new link_families; // MPI_Finalize may come after destructors
    return *known;
}

/// The communicator is freed.
inline int close_family(MPI_Comm /*comm*/, int /*key*/, void* value, void* /*extra*/) {
    if (families().finalized) return MPI_SUCCESS;
    auto* const family = static_cast<link_family*>(value);
    try {
        if (!family->close()) return MPI_SUCCESS; // MPI_Finalize will
    } catch (const link_end&) {                   // there is nobody to tell
        return MPI_SUCCESS;
    }
    std::erase(families().all, family);
    delete family;
    return MPI_SUCCESS;
}

/// MPI_Finalize has begun.
inline int finalize_families(MPI_Comm /*comm*/, int /*key*/, void* /*value*/, void* /*extra*/) {
    families().finalized = true;
    for (link_family* const family : families().all) family->finalize();
    return MPI_SUCCESS;
}

inline link_family& family_of(MPI_Comm comm) {
    link_families& known = families();
    if (known.of_comm == MPI_KEYVAL_INVALID) {
        check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_family, &known.of_comm, nullptr),
              "MPI_Comm_create_keyval");
        check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize_families, &known.of_process,
                                     nullptr),
              "MPI_Comm_create_keyval");
        check(MPI_Comm_set_attr(MPI_COMM_SELF, known.of_process, &known), "MPI_Comm_set_attr");
    }
    void* value = nullptr;
    int there = 0;
    check(MPI_Comm_get_attr(comm, known.of_comm, static_cast<void*>(&value), &there),
          "MPI_Comm_get_attr");
    if (there != 0) return *static_cast<link_family*>(value);
    auto* const family = new link_family(comm);
    known.all.push_back(family);
    check(MPI_Comm_set_attr(comm, known.of_comm, family), "MPI_Comm_set_attr");
    return *family;
}

/// Why links can't be made over the communicator; empty where they can.
inline std::string refusal(MPI_Comm comm) {
    int answer = 0;
    MPI_Initialized(&answer);
    if (answer == 0) return "MPI is not initialised: call MPI_Init_thread first";
    MPI_Finalized(&answer);
    if (answer != 0) return "MPI_Finalize has been called";
    if (comm == MPI_COMM_NULL) return "the communicator is MPI_COMM_NULL";
    MPI_Comm_test_inter(comm, &answer);
    if (answer != 0) return "the communicator is an inter-communicator: give an intra-communicator";
    return "";
}

/// Marks what has failed, so that it isn't waited for any more, and keeps the words.
inline int end_with(process_link& link, const link_end& how) {
    link.words = how.words;
    if (how.status != KRYLITH_LINK_ENDED) {
        link.broken = true;
        if (link.family != nullptr) link.family->set_broken();
    }
    return how.status;
}

/// Calls work(link), which returns a status or throws.
template <class Work>
int run(void* context, const Work& work) {
    auto& link = *static_cast<process_link*>(context);
    try {
        if (link.family == nullptr)
            throw link_end{KRYLITH_LINK_FAILED, "MPI_Finalize has been called"};
        return work(link);
    } catch (const link_end& how) {
        return end_with(link, how);
    } catch (const std::exception& failure) {
        return end_with(link, {KRYLITH_LINK_FAILED, failure.what()});
    }
}

inline int all_gather(process_link& link, const void* given, void* all, std::size_t bytes,
                      double seconds) {
    link_family& family = *link.family;
    link.check_ends();
    link.torn = true;
    link.gather.begin(link.comm, gather_tags + link.slot, family.rank(), family.size(), given,
                      bytes);
    wait_pace pace(seconds);
    while (!link.gather.advance()) {
        if (pace.at_leisure()) {
            family.listen();
            link.check_ends();
        }
        if (!pace.next()) throw link_end{KRYLITH_LINK_TIMED_OUT, ""};
    }
    link.torn = false;
    ++link.gathered;
    link.gather.take(all);
    return KRYLITH_LINK_DONE;
}

inline void* post(void* context, bool sent, int peer, int tag, const void* memory,
                  std::size_t bytes) {
    message* request = nullptr;
    run(context, [&](process_link& link) {
        if (tag < 0 || tag >= posted_tags)
            throw link_end{KRYLITH_LINK_FAILED, "a message has the tag " + std::to_string(tag) +
                                                    ", allowed are 0 to 32767"};
        request = &link.posted.post(link.comm, sent, peer, (link.slot + 1) * posted_tags + tag,
                                    memory, bytes);
        if (sent) ++link.peers[static_cast<std::size_t>(peer)].sent;
        return int{KRYLITH_LINK_DONE};
    });
    return request;
}

inline int test(process_link& link, message& request) {
    process_link::peer& peer = link.peers[static_cast<std::size_t>(request.peer)];
    if (link.posted.test(request)) {
        if (!request.sent) ++peer.received;
        return KRYLITH_LINK_DONE;
    }
    if (++link.tests % 64 == 0) link.family->listen();
    // Of a process that has ended, messages may still be under way, and then they will come.
    if (peer.ended &&
        (request.sent ? peer.end.received < peer.sent : peer.received >= peer.end.sent))
        link.throw_ended(peer);
    return KRYLITH_LINK_PENDING;
}

inline void destroy(process_link& link) {
    if (link.family == nullptr) {
        if (!link.kept) delete &link;
        return;
    }
    link_family& family = *link.family;
    family.end(link);
    link.destroyed = true;
    try {
        family.sweep();
    } catch (const link_end&) {
        family.set_broken();
    }
}

/// Whether a link of this process, or of one that has told so, has waited in vain, or MPI has
/// failed: MPI_Finalize may never return then.
inline bool is_broken() {
    for (link_family* const family : families().all) {
        try {
            family->listen();
        } catch (const link_end&) {
            return true;
        }
        if (family->is_broken()) return true;
    }
    return false;
}

/// Makes this process's table. Collective: all processes of the communicator make links over it in
/// the same order. The first one duplicates the communicator, as MPI_Comm_dup waits; each then
/// waits `seconds` at most for the others, and costs an allgather of 16 bytes or more. Throws
/// std::invalid_argument for what refusal() says, and link_end where MPI fails or others don't
/// come.
inline krylith_link make_table(MPI_Comm comm, double seconds) {
    if (const std::string why = refusal(comm); !why.empty()) throw std::invalid_argument(why);
    link_family& family = family_of(comm);
    krylith_link table{};
    table.size = sizeof table;
    table.version = KRYLITH_LINK_VERSION;
    table.rank = family.rank();
    table.n = family.size();
    table.context = &family.make(seconds);
    table.allgather = [](void* context, const void* given, void* all, size_t bytes,
                         double timeout) {
        return run(context, [&](process_link& link) {
            return all_gather(link, given, all, bytes, timeout);
        });
    };
    table.post = [](void* context, int32_t to, int32_t tag, const void* given, size_t bytes) {
        return post(context, true, to, tag, given, bytes);
    };
    table.receive = [](void* context, int32_t from, int32_t tag, void* place, size_t bytes) {
        return post(context, false, from, tag, place, bytes);
    };
    table.test = [](void* context, void* request) {
        return run(context,
                   [&](process_link& link) { return test(link, *static_cast<message*>(request)); });
    };
    table.progress = [](void* context) {
        return run(context, [](process_link& link) {
            link.family->listen();
            return int{KRYLITH_LINK_DONE};
        });
    };
    table.abort = [](void* context) {
        auto& link = *static_cast<process_link*>(context);
        if (link.family != nullptr) link.family->end(link);
    };
    table.error = [](void* context) { return static_cast<process_link*>(context)->words.c_str(); };
    table.destroy = [](void* context) { destroy(*static_cast<process_link*>(context)); };
    return table;
}

} // namespace krylith::mpi
