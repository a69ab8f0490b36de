# Build type, compiler cache and the flags that every target of the project shares.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()
# CMake takes any build type, and compiles without optimisation where it doesn't know it, or there is none.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
if(NOT CMAKE_CONFIGURATION_TYPES AND NOT build_type STREQUAL "DEBUG" AND
   "${CMAKE_CXX_FLAGS_${build_type}}" STREQUAL "" AND
   NOT CMAKE_CXX_FLAGS MATCHES "(^| )-O")
    set(severity WARNING) # of another project's choice
    if(PROJECT_IS_TOP_LEVEL)
        set(severity FATAL_ERROR)
    endif()
    message(${severity} "CMAKE_BUILD_TYPE is '${CMAKE_BUILD_TYPE}': krylith is compiled without optimisation, and "
                        "solves several times slower. Set it to Release, RelWithDebInfo or MinSizeRel, or to Debug")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF) # there are none, and CMake 3.28 would read each source twice
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(KRYLITH_CCACHE ccache DOC "Compiler cache, used when present")
mark_as_advanced(KRYLITH_CCACHE)
if(KRYLITH_CCACHE)
    # Paths below the sources count relatively, so that what one clone compiled serves every other.
    foreach(language IN ITEMS CXX CUDA)
        if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
            set(CMAKE_${language}_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
                "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${KRYLITH_CCACHE}")
        endif()
    endforeach()
endif()

# For every target at once: the solvers are templates, so that library and callers should agree.
if(KRYLITH_NATIVE)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-march=native>)
endif()

# krylith_compile_options(TARGET [QUICKLY]): warnings, and what .cu files need, private to the target.
# QUICKLY: of a release, compiled with -O1, which takes two thirds of the time. For what runs for moments, or
# leaves the work to the library, whose kernels are compiled there.
function(krylith_compile_options target)
    cmake_parse_arguments(arg "QUICKLY" "" "" ${ARGN})
    if(arg_QUICKLY)
        target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)
    endif()
    set(warnings -Wall -Wextra)
    if(KRYLITH_WERROR)
        list(APPEND warnings -Werror)
    endif()
    set(for_nvcc ${warnings})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        list(APPEND for_nvcc ${OpenMP_CXX_FLAGS})
    endif()
    list(JOIN for_nvcc "," for_nvcc)
    target_compile_options(${target} PRIVATE
        "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>"
        "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${for_nvcc};--expt-relaxed-constexpr>"
        # The lines of kernels, for profilers, are more than half of the code for devices.
        "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<CONFIG:RelWithDebInfo>>:-lineinfo>"
        "$<$<COMPILE_LANGUAGE:CUDA>:${KRYLITH_CUDA_COMPRESSION}>")
    # What calls the library runs for seconds: under AddressSanitizer, optimising it would take longer.
    if(KRYLITH_SANITIZE STREQUAL "address" AND NOT target STREQUAL "krylith")
        target_compile_options(${target} PRIVATE -O0)
    endif()
endfunction()
