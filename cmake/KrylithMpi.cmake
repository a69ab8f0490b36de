# KRYLITH_MPI=AUTO|ON|OFF -> libkrylith_link_NAME.so, links between processes over MPI, which libkrylith
# loads when it is asked for (comm/driver_link.hpp): for each binary interface of MPI one.
#
#   NAME          interface    the library that it needs
#   openmpi       openmpi      libmpi.so.40 (Open MPI since 3.0)
#   mpich         mpich        libmpi.so.12 (MPICH, Intel MPI, MVAPICH and others)
#   mpich_debian  mpich        libmpich.so.12, as Debian and Ubuntu name MPICH's
#   mpi_abi       mpi_abi      libmpi_abi.so.1 (the standard interface of MPI 5: MPICH since 5.0)
#
# Each is built where an mpi.h of its interface is found, by the compiler wrappers in PATH and
# CMAKE_PREFIX_PATH, or in KRYLITH_MPI_INTERFACE_INCLUDE_DIR (KRYLITH_MPI_OPENMPI_INCLUDE_DIR and so on). It is
# linked by the name of the library alone, so that what is built with one MPI runs with others of the interface.
#
# A build for this machine (KRYLITH_NATIVE) also looks in the folder where its MPI was found.
#
# Gives KRYLITH_MPI_INTERFACES, those found, and for the tests of each KRYLITH_MPI_INTERFACE_FLAGS, with which
# its wrapper compiles and links, and KRYLITH_MPI_INTERFACE_LAUNCHER.

krylith_option(KRYLITH_MPI "Links between processes over MPI: AUTO (when mpi.h is found), ON or OFF" AUTO AUTO)
set(KRYLITH_MPI_INTERFACES "")
if(KRYLITH_SANITIZE) # MPI's libraries keep memory, and aren't made for sanitizers
    if(NOT KRYLITH_MPI STREQUAL "AUTO" AND KRYLITH_MPI)
        message(FATAL_ERROR "KRYLITH_MPI=ON can't be had with KRYLITH_SANITIZE: set it to OFF or AUTO")
    endif()
    set(KRYLITH_MPI OFF)
endif()

# The interface of the mpi.h in one of the folders, and that folder; empty where there is none. The standard
# one has a file of its own, which the same mpi.h of MPICH includes when it is asked for.
function(krylith_mpi_interface result result_folder standard)
    set(${result} "" PARENT_SCOPE)
    foreach(folder IN LISTS ARGN)
        if(NOT EXISTS "${folder}/mpi.h")
            continue()
        endif()
        set(${result_folder} "${folder}" PARENT_SCOPE)
        file(STRINGS "${folder}/mpi.h" openmpi REGEX "define OPEN_MPI" LIMIT_COUNT 1)
        file(STRINGS "${folder}/mpi.h" mpich REGEX "define MPICH_VERSION" LIMIT_COUNT 1)
        if(standard)
            set(${result} mpi_abi PARENT_SCOPE)
        elseif(openmpi)
            set(${result} openmpi PARENT_SCOPE)
        elseif(mpich)
            set(${result} mpich PARENT_SCOPE)
        endif()
        return()
    endforeach()
endfunction()

# Looks at one compiler wrapper. mpicxx.mpich and the like stand beside mpiexec.mpich.
function(krylith_mpi_ask wrapper)
    find_program(KRYLITH_WRAPPER_${wrapper} ${wrapper} DOC "A compiler wrapper of MPI")
    mark_as_advanced(KRYLITH_WRAPPER_${wrapper})
    set(path "${KRYLITH_WRAPPER_${wrapper}}")
    if(NOT path)
        return()
    endif()
    execute_process(COMMAND "${path}" -show OUTPUT_VARIABLE line ERROR_QUIET RESULT_VARIABLE status)
    separate_arguments(flags UNIX_COMMAND "${line}")
    if(NOT status EQUAL 0 OR NOT flags)
        return()
    endif()
    list(REMOVE_AT flags 0)
    list(FILTER flags EXCLUDE REGEX "^-lmpi.*(cxx|[+][+])") # bindings that MPI 3 has removed
    set(folders ${flags})
    list(FILTER folders INCLUDE REGEX "^-I")
    list(TRANSFORM folders REPLACE "^-I" "")
    set(standard FALSE)
    if("-DMPI_ABI" IN_LIST flags)
        set(standard TRUE)
    endif()
    krylith_mpi_interface(interface folder ${standard} ${folders})
    string(TOUPPER "${interface}" name)
    if(NOT interface OR KRYLITH_MPI_${name}_FLAGS) # the first one found is taken
        return()
    endif()
    find_path(KRYLITH_MPI_${name}_INCLUDE_DIR mpi.h PATHS "${folder}" NO_DEFAULT_PATH
              DOC "Folder of the mpi.h of ${interface}")
    cmake_path(GET path PARENT_PATH bin)
    string(REGEX MATCH "[.].*" suffix "${wrapper}")
    find_program(KRYLITH_MPI_${name}_LAUNCHER mpiexec${suffix} PATHS "${bin}" NO_DEFAULT_PATH
                 DOC "What starts programs of ${interface}")
    mark_as_advanced(KRYLITH_MPI_${name}_INCLUDE_DIR KRYLITH_MPI_${name}_LAUNCHER)
    set(KRYLITH_MPI_${name}_FLAGS "${flags}" PARENT_SCOPE)
endfunction()

# The folder of an MPI library; empty where the system's loader finds it, or where it isn't there.
function(krylith_mpi_folder result upper soname)
    set(${result} "" PARENT_SCOPE)
    foreach(folder IN LISTS CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
        if(EXISTS "${folder}/${soname}")
            return()
        endif()
    endforeach()
    set(folders ${KRYLITH_MPI_${upper}_FLAGS})
    list(FILTER folders INCLUDE REGEX "^-L/")
    list(TRANSFORM folders REPLACE "^-L" "")
    foreach(folder IN LISTS folders)
        if(EXISTS "${folder}/${soname}")
            set(${result} "${folder}" PARENT_SCOPE)
            return()
        endif()
    endforeach()
endfunction()

# krylith_mpi_library(NAME INTERFACE SONAME)
function(krylith_mpi_library name interface soname)
    # A library without functions stands for the MPI that will be there.
    set(stub "krylith_link_${name}_stub")
    add_library(${stub} SHARED "${PROJECT_BINARY_DIR}/generated/no_functions.cpp")
    set_target_properties(${stub} PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/stubs/${name}"
        NO_SONAME ON)
    target_link_options(${stub} PRIVATE "LINKER:-soname,${soname}")
    string(TOUPPER "${interface}" upper)
    set(target krylith_link_${name})
    add_library(${target} MODULE "${PROJECT_SOURCE_DIR}/adapters/mpi/link_library.cpp")
    krylith_compile_options(${target})
    add_dependencies(${target} ${stub})
    add_dependencies(krylith_links ${target})
    target_include_directories(${target} PRIVATE "${KRYLITH_INCLUDE_DIR}")
    target_include_directories(${target} SYSTEM PRIVATE "${KRYLITH_MPI_${upper}_INCLUDE_DIR}")
    if(interface STREQUAL "mpi_abi")
        target_compile_definitions(${target} PRIVATE MPI_ABI KRYLITH_STANDARD_MPI_ABI)
    endif()
    target_link_options(${target} PRIVATE "LINKER:--no-as-needed" "$<TARGET_FILE:${stub}>")
    krylith_mpi_folder(folder ${upper} ${soname})
    set_target_properties(${target} PROPERTIES
        BUILD_RPATH "${folder}"
        INSTALL_RPATH "$<IF:$<BOOL:${KRYLITH_NATIVE}>,${folder},>"
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON
        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/krylith")
    install(TARGETS ${target} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/krylith" COMPONENT links OPTIONAL)
endfunction()

if(KRYLITH_MPI)
    foreach(wrapper IN ITEMS mpicxx.openmpi mpicxx.mpich mpicxx mpicxx_abi)
        krylith_mpi_ask(${wrapper})
    endforeach()
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/no_functions.cpp" CONTENT "")
    foreach(interface IN ITEMS openmpi mpich mpi_abi)
        string(TOUPPER "${interface}" upper)
        if(KRYLITH_MPI_${upper}_INCLUDE_DIR)
            list(APPEND KRYLITH_MPI_INTERFACES ${interface})
            message(STATUS "krylith: MPI ${interface} ${KRYLITH_MPI_${upper}_INCLUDE_DIR}")
        endif()
    endforeach()
    if(NOT KRYLITH_MPI_INTERFACES AND NOT KRYLITH_MPI STREQUAL "AUTO")
        message(FATAL_ERROR "KRYLITH_MPI=${KRYLITH_MPI}, but no MPI was found (Debian, Ubuntu: packages "
            "libopenmpi-dev and libmpich-dev). Name its prefix in CMAKE_PREFIX_PATH")
    endif()
endif()
add_custom_target(krylith_links) # all of them
if("openmpi" IN_LIST KRYLITH_MPI_INTERFACES)
    krylith_mpi_library(openmpi openmpi libmpi.so.40)
endif()
if("mpich" IN_LIST KRYLITH_MPI_INTERFACES)
    krylith_mpi_library(mpich mpich libmpi.so.12)
    krylith_mpi_library(mpich_debian mpich libmpich.so.12)
endif()
if("mpi_abi" IN_LIST KRYLITH_MPI_INTERFACES)
    krylith_mpi_library(mpi_abi mpi_abi libmpi_abi.so.1)
endif()

# krylith_mpi_complete(RESULT INTERFACE): whether programs of the interface can be compiled and started.
function(krylith_mpi_complete result interface)
    string(TOUPPER "${interface}" upper)
    set(${result} FALSE PARENT_SCOPE)
    if(KRYLITH_MPI_${upper}_LAUNCHER AND KRYLITH_MPI_${upper}_FLAGS)
        set(${result} TRUE PARENT_SCOPE)
    endif()
endfunction()

# krylith_mpi_program(TARGET INTERFACE): a program of krylith's that calls MPI itself.
function(krylith_mpi_program target interface)
    string(TOUPPER "${interface}" upper)
    set(compiled ${KRYLITH_MPI_${upper}_FLAGS})
    list(FILTER compiled INCLUDE REGEX "^-[DI]")
    set(linked ${KRYLITH_MPI_${upper}_FLAGS})
    list(FILTER linked EXCLUDE REGEX "^-[DI]")
    target_compile_options(${target} PRIVATE ${compiled})
    target_link_libraries(${target} PRIVATE krylith::krylith ${linked})
endfunction()

# krylith_mpi_test(TEST INTERFACE PROCESSES PROGRAM [ARGUMENT...])
function(krylith_mpi_test test interface processes)
    string(TOUPPER "${interface}" upper)
    add_test(NAME ${test} COMMAND "${KRYLITH_MPI_${upper}_LAUNCHER}" -n ${processes} ${ARGN})
    krylith_mpi_test_properties(${test})
endfunction()

function(krylith_mpi_test_properties test)
    krylith_test_properties(${test})
    set_tests_properties(${test} PROPERTIES LABELS host PROCESSORS 2 TIMEOUT 120)
    # Open MPI refuses root, and more processes than cores, unless it is told to, and binds each to a core; its
    # version 5 by other names.
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
        OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none
        PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
        PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe)
endfunction()
