# The test long.files_alone: a build of everything without KRYLITH_UNITY, optimised as little as can be.
string(REPLACE ";" "\\;" path "${PREFIX_PATH}")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SOURCE_DIR}" -B "${BUILD_DIR}" -G "${GENERATOR}"
        -DKRYLITH_UNITY=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0
        -DCMAKE_CUDA_FLAGS_DEBUG=-O0 "-DKRYLITH_CUDA=${CUDA}"
        "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_PREFIX_PATH=${path}"
    COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BUILD_DIR}" --parallel 2
    COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
