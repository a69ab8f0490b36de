# MFEM as the target krylith_dep_mfem, where it is found (CMAKE_PREFIX_PATH, the system's folders;
# Debian 13, Ubuntu 24.04: package libmfem-dev) and a program can be built with it. Looked for by
# header and library: MFEM's own CMake package names files of the machine that it was built on.

find_path(KRYLITH_mfem_INCLUDE_DIR mfem.hpp DOC "Folder that holds mfem.hpp")
find_library(KRYLITH_mfem_LIBRARY mfem DOC "MFEM's library")
mark_as_advanced(KRYLITH_mfem_INCLUDE_DIR KRYLITH_mfem_LIBRARY)

if(KRYLITH_mfem_INCLUDE_DIR AND KRYLITH_mfem_LIBRARY)
    set(mfem_includes "${KRYLITH_mfem_INCLUDE_DIR}")
    set(mfem_libraries "${KRYLITH_mfem_LIBRARY}")
    set(mfem_config "${KRYLITH_mfem_INCLUDE_DIR}/mfem/config/_config.hpp")
    if(EXISTS "${mfem_config}")
        file(STRINGS "${mfem_config}" mfem_mpi REGEX "^ *#define +MFEM_USE_MPI")
        if(mfem_mpi)
            find_package(MPI QUIET COMPONENTS CXX)
            find_path(KRYLITH_hypre_INCLUDE_DIR HYPRE.h PATH_SUFFIXES hypre DOC "Folder of HYPRE.h")
            mark_as_advanced(KRYLITH_hypre_INCLUDE_DIR)
            if(MPI_CXX_FOUND)
                list(APPEND mfem_includes ${MPI_CXX_INCLUDE_DIRS})
                list(APPEND mfem_libraries ${MPI_CXX_LIBRARIES})
            endif()
            if(KRYLITH_hypre_INCLUDE_DIR)
                list(APPEND mfem_includes "${KRYLITH_hypre_INCLUDE_DIR}")
            endif()
        endif()
    endif()

    set(mfem_key "${mfem_includes};${mfem_libraries}") # tried again where these change
    if(NOT "${KRYLITH_MFEM_TRIED}" STREQUAL "${mfem_key}")
        unset(KRYLITH_MFEM_WORKS CACHE)
        set(KRYLITH_MFEM_TRIED "${mfem_key}" CACHE INTERNAL "MFEM that was tried")
        file(WRITE "${PROJECT_BINARY_DIR}/mfem_works.cpp"
            "#include <mfem.hpp>\nint main() { return mfem::SparseMatrix(1, 1).Height() - 1; }\n")
        try_compile(KRYLITH_MFEM_WORKS "${PROJECT_BINARY_DIR}/mfem_works"
            "${PROJECT_BINARY_DIR}/mfem_works.cpp"
            CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${mfem_includes}"
            LINK_LIBRARIES ${mfem_libraries}
            CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON
            OUTPUT_VARIABLE mfem_output)
        file(WRITE "${PROJECT_BINARY_DIR}/mfem_works.log" "${mfem_output}")
    endif()
    if(KRYLITH_MFEM_WORKS)
        add_library(krylith_dep_mfem INTERFACE IMPORTED GLOBAL)
        target_include_directories(krylith_dep_mfem SYSTEM INTERFACE ${mfem_includes})
        target_link_libraries(krylith_dep_mfem INTERFACE ${mfem_libraries})
        message(STATUS "krylith: MFEM for its example: ${KRYLITH_mfem_LIBRARY}")
    else()
        message(STATUS "krylith: ${KRYLITH_mfem_LIBRARY} is no use: a program with it does not build "
                       "(${PROJECT_BINARY_DIR}/mfem_works.log)")
    endif()
endif()
