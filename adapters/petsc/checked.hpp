// Errors between PETSc, which returns codes, and krylith, which throws.
#pragma once

#include <exception>
#include <new>
#include <string>

#include <petscsys.h>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/error.hpp>

namespace krylith::petsc {

/// A function of PETSc's that has failed, and said so.
struct failed_call {
    PetscErrorCode code;
};

inline void check(PetscErrorCode code) {
    if (code) throw failed_call{code};
}

/// The same where only this process may have failed: all of them throw then, lest the others wait
/// for it.
inline void check_together(const communicator& comm, PetscErrorCode code, const char* function) {
    comm.together([&] {
        if (code) throw error(std::string(function) + " has failed in a process");
    });
}

/// Does work, and returns PETSc's code of what it throws, whose words PETSc's error handler gets.
template <class Work>
PetscErrorCode checked(MPI_Comm comm, const char* function, const Work& work) noexcept {
    const auto say = [&](PetscErrorCode code, PetscErrorType type, const char* words) {
        const PetscErrorCode said =
            PetscError(comm, __LINE__, function, __FILE__, code, type, "krylith: %s", words);
        return said ? said : code;
    };
    try {
        work();
        return static_cast<PetscErrorCode>(0);
    } catch (const failed_call& failed) {
        return PetscError(comm, __LINE__, function, __FILE__, failed.code, PETSC_ERROR_REPEAT, " ");
    } catch (const usage_error& failed) {
        return say(PETSC_ERR_ARG_WRONG, PETSC_ERROR_INITIAL, failed.what());
    } catch (const input_error& failed) {
        return say(PETSC_ERR_ARG_WRONG, PETSC_ERROR_INITIAL, failed.what());
    } catch (const memory_error& failed) {
        return say(PETSC_ERR_MEM, PETSC_ERROR_INITIAL, failed.what());
    } catch (const std::bad_alloc& failed) {
        return say(PETSC_ERR_MEM, PETSC_ERROR_INITIAL, failed.what());
    } catch (const std::exception& failed) {
        return say(PETSC_ERR_LIB, PETSC_ERROR_INITIAL, failed.what());
    }
}

} // namespace krylith::petsc
