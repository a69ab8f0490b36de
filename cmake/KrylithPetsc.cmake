# KRYLITH_PETSC=ON|OFF -> libkrylith_petsc.so, the KSP type krylith of PETSc (adapters/petsc.h): for the PETSc of
# pkg-config (PKG_CONFIG_PATH names another) and the MPI of KRYLITH_MPI_INTERFACES that it was built with. It uses
# PETSc's private headers, so that it is for that version of PETSc alone; it has been tried with 3.18.
#
# Gives KRYLITH_PETSC_INTERFACE, that MPI, and krylith_petsc_program().

krylith_option(KRYLITH_PETSC "A KSP of PETSc's, libkrylith_petsc (needs PETSc, real, in double precision)" OFF)
if(NOT KRYLITH_PETSC)
    return()
endif()
if(KRYLITH_SANITIZE)
    message(FATAL_ERROR "KRYLITH_PETSC=ON can't be had with KRYLITH_SANITIZE, which MPI's libraries aren't made for")
endif()
find_package(PkgConfig REQUIRED)
pkg_check_modules(KRYLITH_PC_PETSC IMPORTED_TARGET PETSc)
if(NOT KRYLITH_PC_PETSC_FOUND)
    message(FATAL_ERROR "KRYLITH_PETSC=ON, but pkg-config knows no PETSc (Debian, Ubuntu: package "
                        "libpetsc-real-dev). Name the folder of its PETSc.pc in PKG_CONFIG_PATH")
endif()

# PETSc's headers refuse the mpi.h of another MPI than its own.
file(WRITE "${PROJECT_BINARY_DIR}/petsc_works.cpp" "\
#include <petsc/private/kspimpl.h>
#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
#error krylith needs a PETSc of real numbers in double precision
#endif
PetscErrorCode (*const _KSPOps::*member)(KSP, PetscOptionItems *) = &_KSPOps::setfromoptions;
int main() { return PetscInitializeNoArguments(); }
")
set(KRYLITH_PETSC_INTERFACE "")
set(petsc_output "")
foreach(interface IN LISTS KRYLITH_MPI_INTERFACES)
    string(TOUPPER "${interface}" upper)
    set(flags ${KRYLITH_MPI_${upper}_FLAGS})
    list(FILTER flags INCLUDE REGEX "^-[DI]")
    set(libraries ${KRYLITH_MPI_${upper}_FLAGS})
    list(FILTER libraries EXCLUDE REGEX "^-[DI]")
    try_compile(works "${PROJECT_BINARY_DIR}/petsc_works_${interface}" "${PROJECT_BINARY_DIR}/petsc_works.cpp"
        COMPILE_DEFINITIONS ${flags}
        LINK_LIBRARIES PkgConfig::KRYLITH_PC_PETSC ${libraries}
        CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON
        OUTPUT_VARIABLE output)
    string(APPEND petsc_output "${output}")
    if(works)
        set(KRYLITH_PETSC_INTERFACE ${interface})
        break()
    endif()
endforeach()
file(WRITE "${PROJECT_BINARY_DIR}/petsc_works.log" "${petsc_output}")
if(NOT KRYLITH_PETSC_INTERFACE)
    message(FATAL_ERROR "KRYLITH_PETSC=ON, but no program with PETSc ${KRYLITH_PC_PETSC_VERSION} builds, with any MPI "
                        "that was found (${KRYLITH_MPI_INTERFACES}): see ${PROJECT_BINARY_DIR}/petsc_works.log")
endif()
message(STATUS "krylith: PETSc ${KRYLITH_PC_PETSC_VERSION} with MPI ${KRYLITH_PETSC_INTERFACE}")

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/adapters/petsc/*.cpp")
add_library(krylith_petsc SHARED ${sources})
krylith_compile_options(krylith_petsc)
krylith_mpi_program(krylith_petsc ${KRYLITH_PETSC_INTERFACE})
target_link_libraries(krylith_petsc PRIVATE PkgConfig::KRYLITH_PC_PETSC)
# PETSc closes the libraries that it has loaded, before threads and what MPI calls at its end are gone. Of krylith
# nothing but the two functions is to be seen by the program, which may have another one.
target_link_options(krylith_petsc PRIVATE "LINKER:-z,nodelete" "LINKER:--exclude-libs,ALL")
set_target_properties(krylith_petsc PROPERTIES
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH "$ORIGIN"
    INSTALL_RPATH_USE_LINK_PATH ON
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
krylith_unity(krylith_petsc)
install(TARGETS krylith_petsc LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT petsc)
install(FILES "${PROJECT_SOURCE_DIR}/adapters/petsc.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/krylith/adapters"
        COMPONENT petsc)

enable_language(C)
# krylith_petsc_program(TARGET SOURCE...): a program in C that calls PETSc, and is not linked with krylith.
function(krylith_petsc_program target)
    string(TOUPPER "${KRYLITH_PETSC_INTERFACE}" upper)
    set(compiled ${KRYLITH_MPI_${upper}_FLAGS})
    list(FILTER compiled INCLUDE REGEX "^-[DI]")
    set(linked ${KRYLITH_MPI_${upper}_FLAGS})
    list(FILTER linked EXCLUDE REGEX "^-[DI]")
    add_executable(${target} ${ARGN})
    target_compile_options(${target} PRIVATE ${compiled} -Wall -Wextra)
    target_link_libraries(${target} PRIVATE PkgConfig::KRYLITH_PC_PETSC ${linked} m)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
endfunction()
if(KRYLITH_BENCH OR KRYLITH_TESTS)
    krylith_petsc_program(petsc_poisson3d "${PROJECT_SOURCE_DIR}/bench/petsc/poisson3d.c")
endif()
