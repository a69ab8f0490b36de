# The test install.shared: a shared library for the CPU, built here. It must bring what it needs
# itself, and its user's program must link nothing else of krylith's. The command is not built: what is
# there is installed, and what isn't is named.
include("${CMAKE_CURRENT_LIST_DIR}/stranger.cmake")

set(build "${WORK_DIR}/build") # stays, so that a second run compiles only what changed
set(prefix "${WORK_DIR}/prefix")
file(REMOVE_RECURSE "${prefix}")
string(REPLACE ";" "\\;" path "${PREFIX_PATH}")
run("${CMAKE_COMMAND}" -S "${SOURCE_DIR}" -B "${build}" -G "${GENERATOR}" -DBUILD_SHARED_LIBS=ON
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 # compiled in a third of the time
    "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_PREFIX_PATH=${path}"
    "-DKRYLITH_NATIVE=${NATIVE}" "-DKRYLITH_UNITY=${UNITY}" -DKRYLITH_CUDA=OFF -DKRYLITH_TESTS=OFF "-DKRYLITH_TOOLS=${TOOLS}"
    -DKRYLITH_EXAMPLES=OFF)
run("${CMAKE_COMMAND}" --build "${build}" --config Debug --parallel 2 --target krylith)
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${build}" --config Debug --prefix "${prefix}"
                OUTPUT_VARIABLE said ECHO_OUTPUT_VARIABLE COMMAND_ERROR_IS_FATAL ANY)
if(TOOLS)
    foreach(name IN ITEMS krylith krylith-bench)
        expect("${said}" matches "Not installed: ${name}, which was not built" "${name} is not built")
    endforeach()
endif()

set(CUDA_ROOT "")
use_find_package("${prefix}")
check_pkg_config("${prefix}" ON)
use_pkg_config("${prefix}")
use_pkg_config("${prefix}" --static)
