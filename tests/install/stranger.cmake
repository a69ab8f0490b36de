# A stranger's program, built against what is installed below a prefix, and run.

function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# expect(TEXT matches|lacks PATTERN WHY)
function(expect text relation pattern why)
    if(text MATCHES "${pattern}")
        set(found matches)
    else()
        set(found lacks)
    endif()
    if(NOT found STREQUAL relation)
        message(FATAL_ERROR "${why}: '${text}' ${found} '${pattern}'")
    endif()
endfunction()

# refuses(FOLDER PATTERN COMMAND...): CMake makes no build in the folder, and says why.
function(refuses folder pattern)
    execute_process(COMMAND ${ARGN} -B "${WORK_DIR}/${folder}" --fresh "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}"
                    RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
    string(REGEX REPLACE "[ \n]+" " " said "${said}")
    expect("${said}" matches "${pattern}" "${ARGN}")
    if(status EQUAL 0)
        message(FATAL_ERROR "${ARGN} was accepted")
    endif()
endfunction()

# Libraries that few need are loaded when they are asked for: PROGRAM starts where they are not.
function(expect_few_libraries program)
    execute_process(COMMAND ldd "${program}" OUTPUT_VARIABLE libraries COMMAND_ERROR_IS_FATAL ANY)
    expect("${libraries}" lacks "nccl|cusparse|cublas|nvJitLink|metis|numa" "${program} must not link")
endfunction()

# The package for CMake, found below PREFIX and nowhere else. Further arguments are for CMake.
function(use_find_package prefix)
    set(build "${WORK_DIR}/by_cmake")
    file(REMOVE_RECURSE "${build}")
    list(PREPEND PREFIX_PATH "${prefix}")
    string(REPLACE ";" "\\;" PREFIX_PATH "${PREFIX_PATH}")
    set(cuda "")
    if(CUDA_ROOT)
        set(cuda "-DCUDAToolkit_ROOT=${CUDA_ROOT}")
    endif()
    run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/consumer" -B "${build}" -G "${GENERATOR}"
        "-DCMAKE_BUILD_TYPE=${CONFIG}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
        "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}" ${cuda} ${ARGN}
        "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY=${build}/$<0:>") # without a folder for the configuration
    file(STRINGS "${build}/CMakeCache.txt" where REGEX "^krylith_DIR:")
    string(FIND "${where}" "=${prefix}/" place)
    if(place EQUAL -1)
        message(FATAL_ERROR "found another krylith than that below ${prefix}: ${where}")
    endif()
    run("${CMAKE_COMMAND}" --build "${build}" --config "${CONFIG}")
    run("${build}/mine")
    expect_few_libraries("${build}/mine")
endfunction()

# pkg_config_flags(RESULT PREFIX OPTION...): of krylith.pc below PREFIX.
function(pkg_config_flags result prefix)
    file(GLOB_RECURSE file "${prefix}/lib*/krylith.pc")
    cmake_path(GET file PARENT_PATH folder)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${folder}:$ENV{PKG_CONFIG_PATH}"
                            "${PKG_CONFIG}" ${ARGN} krylith
                    OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ECHO STDOUT
                    COMMAND_ERROR_IS_FATAL ANY)
    set(${result} "${flags}" PARENT_SCOPE)
endfunction()

# pkg-config for krylith.pc below PREFIX. OPTION: --static or nothing.
function(use_pkg_config prefix)
    pkg_config_flags(flags "${prefix}" --cflags --libs ${ARGN})
    separate_arguments(flags UNIX_COMMAND "${flags}")
    run("${CXX_COMPILER}" -std=c++20 "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/consumer/main.cpp" ${flags}
        -o "${WORK_DIR}/by_pkg_config")
    file(GLOB_RECURSE library "${prefix}/lib*/libkrylith.*")
    list(GET library 0 library)
    cmake_path(GET library PARENT_PATH folder)
    run("${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${folder}:$ENV{LD_LIBRARY_PATH}"
        "${WORK_DIR}/by_pkg_config")
    expect_few_libraries("${WORK_DIR}/by_pkg_config")
endfunction()

# Whether pkg-config names zlib, which only a static library makes its user link.
function(check_pkg_config prefix shared)
    pkg_config_flags(plain "${prefix}" --libs)
    pkg_config_flags(static "${prefix}" --static --libs)
    set(zlib "(^| )-lz( |$)")
    expect("${static}" matches "${zlib}" "pkg-config --static --libs must name zlib")
    if(shared)
        expect("${plain}" lacks "${zlib}" "pkg-config --libs must not name zlib")
    else()
        expect("${plain}" matches "${zlib}" "pkg-config --libs must name zlib")
    endif()
endfunction()
