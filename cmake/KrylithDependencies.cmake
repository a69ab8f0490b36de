# What the library links, or loads when it is asked for (KRYLITH_METIS=AUTO|ON|OFF -> KRYLITH_HAVE_METIS,
# KRYLITH_METIS_ELSEWHERE, KRYLITH_METIS_INCLUDE_DIR), and krylith_need(NAME...) for what only tools, tests
# and benchmarks use.
# All are looked for in CMAKE_PREFIX_PATH and the system's folders; nothing is downloaded.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(ZLIB REQUIRED)

# krylith_library_elsewhere(RESULT LIBRARY): the path of a library that is loaded when it is asked for;
# empty where the system's loader finds it by its name.
function(krylith_library_elsewhere result library)
    cmake_path(GET library PARENT_PATH folder)
    if(library AND NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES
       AND NOT folder STREQUAL "${CUDAToolkit_LIBRARY_DIR}") # which programs have in their RUNPATH
        set(${result} "${library}" PARENT_SCOPE)
    else()
        set(${result} "" PARENT_SCOPE)
    endif()
endfunction()

krylith_option(KRYLITH_METIS "Reordering by METIS: AUTO (when metis.h is found), ON or OFF" AUTO AUTO)
set(KRYLITH_HAVE_METIS 0)
if(KRYLITH_METIS)
    find_path(KRYLITH_METIS_INCLUDE_DIR metis.h DOC "Folder that holds metis.h")
    find_library(KRYLITH_METIS_LIBRARY NAMES libmetis.so DOC "The METIS library, a shared one")
    mark_as_advanced(KRYLITH_METIS_INCLUDE_DIR KRYLITH_METIS_LIBRARY)
    if(KRYLITH_METIS_INCLUDE_DIR AND KRYLITH_METIS_LIBRARY)
        set(KRYLITH_HAVE_METIS 1)
        krylith_library_elsewhere(KRYLITH_METIS_ELSEWHERE "${KRYLITH_METIS_LIBRARY}")
        message(STATUS "krylith: METIS ${KRYLITH_METIS_LIBRARY}")
    elseif(NOT KRYLITH_METIS STREQUAL "AUTO")
        message(FATAL_ERROR "KRYLITH_METIS=${KRYLITH_METIS}, but metis.h and libmetis.so were not found (Debian, "
            "Ubuntu: package libmetis-dev). Name their prefix in CMAKE_PREFIX_PATH")
    endif()
endif()
set(KRYLITH_HAVE_METIS ${KRYLITH_HAVE_METIS} CACHE INTERNAL "Whether this build reorders by METIS")

# A header-only package as the target krylith_dep_NAME.
function(krylith_find_header name header package)
    find_path(KRYLITH_${name}_INCLUDE_DIR ${header} ${ARGN} DOC "Folder that holds ${header}")
    mark_as_advanced(KRYLITH_${name}_INCLUDE_DIR)
    if(NOT KRYLITH_${name}_INCLUDE_DIR)
        message(FATAL_ERROR "${header} was not found (Debian, Ubuntu: package ${package}). Install it, "
            "name its prefix in CMAKE_PREFIX_PATH, or switch off what needs it: "
            "KRYLITH_TESTS (doctest, Eigen), KRYLITH_TOOLS (CLI11, nlohmann-json, fmt), KRYLITH_BENCH; "
            "the library itself needs xxHash.")
    endif()
    add_library(krylith_dep_${name} INTERFACE IMPORTED GLOBAL)
    target_include_directories(krylith_dep_${name} SYSTEM INTERFACE "${KRYLITH_${name}_INCLUDE_DIR}")
endfunction()

# Makes the targets krylith_dep_NAME for NAME in xxhash, doctest, eigen, cli11, json, fmt.
function(krylith_need)
    foreach(name IN LISTS ARGN)
        if(TARGET krylith_dep_${name})
            continue()
        endif()
        if(name STREQUAL "xxhash")
            krylith_find_header(xxhash xxhash.h libxxhash-dev)
        elseif(name STREQUAL "doctest")
            krylith_find_header(doctest doctest/doctest.h doctest-dev)
        elseif(name STREQUAL "eigen")
            krylith_find_header(eigen Eigen/Core libeigen3-dev PATH_SUFFIXES eigen3 include/eigen3)
            # .cpp and .cu are compiled for different processors, and must agree on Eigen's layout.
            target_compile_definitions(krylith_dep_eigen INTERFACE EIGEN_MAX_ALIGN_BYTES=64)
            # g++ 12 takes for uninitialised what its headers for AVX-512 mask out.
            if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
                target_compile_options(krylith_dep_eigen INTERFACE
                    $<$<COMPILE_LANGUAGE:CXX>:-Wno-uninitialized>
                    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wno-uninitialized>)
            endif()
        elseif(name STREQUAL "cli11")
            krylith_find_header(cli11 CLI/CLI.hpp libcli11-dev)
        elseif(name STREQUAL "json")
            krylith_find_header(json nlohmann/json.hpp nlohmann-json3-dev)
        elseif(name STREQUAL "fmt")
            find_package(fmt CONFIG QUIET GLOBAL)
            if(TARGET fmt::fmt)
                add_library(krylith_dep_fmt INTERFACE IMPORTED GLOBAL)
                target_link_libraries(krylith_dep_fmt INTERFACE fmt::fmt)
            else()
                krylith_find_header(fmt fmt/format.h libfmt-dev)
                target_compile_definitions(krylith_dep_fmt INTERFACE FMT_HEADER_ONLY)
            endif()
        else()
            message(FATAL_ERROR "krylith_need: '${name}' is none of xxhash, doctest, eigen, cli11, json, fmt")
        endif()
    endforeach()
endfunction()
