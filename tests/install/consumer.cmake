# The test install.consumer: this build, installed below a folder that then moves.
include("${CMAKE_CURRENT_LIST_DIR}/stranger.cmake")

file(REMOVE_RECURSE "${WORK_DIR}")
set(prefix "${WORK_DIR}/moved")
run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --config "${CONFIG}" --prefix "${WORK_DIR}/prefix")
file(RENAME "${WORK_DIR}/prefix" "${prefix}")

use_find_package("${prefix}")
if(CUDA_ROOT) # a machine without the toolkit, but with the libraries that programs link
    use_find_package("${prefix}" -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON)
endif()
check_pkg_config("${prefix}" "${SHARED}")
use_pkg_config("${prefix}")
use_pkg_config("${prefix}" --static)
if(EXISTS "${prefix}/bin/krylith")
    run("${prefix}/bin/krylith" solve gallery:poisson3d:16)
    expect_few_libraries("${prefix}/bin/krylith")
endif()

# What CMake would take for a pattern is said, and not met as a target without a library.
file(RENAME "${prefix}" "${WORK_DIR}/in[x]")
refuses(by_cmake "its path has '.', allowed are paths without" "${CMAKE_COMMAND}" -G "${GENERATOR}"
        -S "${CMAKE_CURRENT_LIST_DIR}/consumer" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
        "-Dkrylith_ROOT=${WORK_DIR}/in[x]")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --config "${CONFIG}" --prefix "${WORK_DIR}/in[x]"
                RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
expect("${status};${said}" matches "^1;.*can't be installed in" "an installation in in[x]")
