# The test install.consumer; CMakeLists.txt beside it passes the variables.
function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
set(prefix "${WORK_DIR}/prefix")
set(build "${WORK_DIR}/build")
list(PREPEND PREFIX_PATH "${prefix}")
string(REPLACE ";" "\\;" PREFIX_PATH "${PREFIX_PATH}")
set(cuda "")
if(CUDA_ROOT)
    set(cuda "-DCUDAToolkit_ROOT=${CUDA_ROOT}")
endif()

run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --config "${CONFIG}" --prefix "${prefix}")
run("${CMAKE_COMMAND}" -S "${CONSUMER_DIR}" -B "${build}" -G "${GENERATOR}"
    "-DCMAKE_BUILD_TYPE=${CONFIG}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
    "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}" ${cuda})
run("${CMAKE_COMMAND}" --build "${build}" --config "${CONFIG}")
run("${build}/consumer")
if(EXISTS "${prefix}/bin/krylith")
    run("${prefix}/bin/krylith" --help)
endif()
