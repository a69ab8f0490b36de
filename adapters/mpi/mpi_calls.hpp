// Calls of MPI: their errors, counts beyond an int, and waits.
#pragma once

#include <chrono>
#include <climits>
#include <cstddef>
#include <string>

#include <sched.h>

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX // the bindings for C++ that MPI-3 has removed need a library of their own
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#endif
#include <mpi.h>

#include <krylith/comm/link.h>

namespace krylith::mpi {

/// What a function of a link's table ends with, other than that it is done: a krylith_link_status,
/// and words for error(). Thrown and caught within a call of the table.
struct link_end {
    int status;
    std::string words;
};

inline void check(int code, const char* function) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw link_end{KRYLITH_LINK_FAILED, std::string(function) + " has failed: " +
                                            std::string(text, static_cast<std::size_t>(length))};
}

/// Whether a request is done, which is null then unless it is persistent. Null counts as done.
inline bool is_done(MPI_Request& request) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
}

/// So many bytes as MPI counts them, in an int: more than that are one item of a type of its own.
class byte_count {
public:
    explicit byte_count(std::size_t bytes) {
        if (bytes <= INT_MAX) {
            count_ = static_cast<int>(bytes);
            return;
        }
        constexpr std::size_t piece = std::size_t{1} << 30;
        MPI_Datatype whole = MPI_DATATYPE_NULL;
        check(MPI_Type_contiguous(static_cast<int>(piece), MPI_BYTE, &whole),
              "MPI_Type_contiguous");
        const int lengths[] = {static_cast<int>(bytes / piece), static_cast<int>(bytes % piece)};
        const MPI_Aint places[] = {0, static_cast<MPI_Aint>(bytes - bytes % piece)};
        const MPI_Datatype types[] = {whole, MPI_BYTE};
        check(MPI_Type_create_struct(2, lengths, places, types, &type_), "MPI_Type_create_struct");
        MPI_Type_free(&whole);
        check(MPI_Type_commit(&type_), "MPI_Type_commit");
    }
    byte_count(const byte_count&) = delete;
    byte_count& operator=(const byte_count&) = delete;
    /// Messages that have begun keep their type.
    ~byte_count() {
        if (type_ != MPI_BYTE) MPI_Type_free(&type_);
    }

    [[nodiscard]] int count() const noexcept { return count_; }
    [[nodiscard]] MPI_Datatype type() const noexcept { return type_; }

private:
    int count_ = 1;
    MPI_Datatype type_ = MPI_BYTE;
};

/// Paces a wait, `seconds` long at most, whose turns each look at what is waited for. The first
/// turns follow each other at once; then the core is offered to others, since it may be the one
/// that the awaited process needs.
class wait_pace {
public:
    explicit wait_pace(double seconds) : seconds_(seconds) {}

    /// Ends a turn. Returns false where the time is over.
    [[nodiscard]] bool next() {
        if (++turns_ <= at_once) return true;
        sched_yield();
        return std::chrono::duration<double>(clock::now() - begin_).count() < seconds_;
    }
    /// Whether a turn should look at what seldom happens, too.
    [[nodiscard]] bool at_leisure() const { return turns_ >= at_once || turns_ % 64 == 63; }

private:
    using clock = std::chrono::steady_clock;
    static constexpr long at_once = 500;

    double seconds_;
    clock::time_point begin_ = clock::now();
    long turns_ = 0;
};

} // namespace krylith::mpi
