# The test install.parts: a library and a command for the CPU without the parts that can be left out, built
# and installed here. A program that needs none of them builds against it; the command says what it lacks.
include("${CMAKE_CURRENT_LIST_DIR}/stranger.cmake")

set(build "${WORK_DIR}/build") # stays, so that a second run compiles only what changed
set(prefix "${WORK_DIR}/prefix")
file(REMOVE_RECURSE "${prefix}")
string(REPLACE ";" "\\;" path "${PREFIX_PATH}")
set(parts GALLERY SPMSPV GRAPHS STREAMING)
list(TRANSFORM parts REPLACE "(.+)" "-DKRYLITH_\\1=OFF" OUTPUT_VARIABLE without)
set(configure "${CMAKE_COMMAND}" -S "${SOURCE_DIR}" -G "${GENERATOR}"
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 # compiled in a third of the time
    "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DKRYLITH_UNITY=${UNITY}" -DKRYLITH_CUDA=OFF
    -DKRYLITH_EXAMPLES=OFF)
run(${configure} -B "${build}" "-DCMAKE_PREFIX_PATH=${path}" ${without})
run("${CMAKE_COMMAND}" --build "${build}" --config Debug --parallel 2)
run("${CMAKE_COMMAND}" --install "${build}" --config Debug --prefix "${prefix}")

foreach(header IN ITEMS matrix/gallery.hpp spmspv/product.hpp graph/bfs.hpp spmv/streamed_product.hpp)
    if(EXISTS "${prefix}/include/krylith/${header}")
        message(FATAL_ERROR "${header} is installed, and its part was left out")
    endif()
endforeach()
foreach(part IN ITEMS gallery spmspv graphs streaming)
    set(consumer "${WORK_DIR}/consumer_${part}")
    file(REMOVE_RECURSE "${consumer}")
    run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/small_consumer" -B "${consumer}" -G "${GENERATOR}"
        "-DCMAKE_BUILD_TYPE=Debug" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
        "-DCMAKE_PREFIX_PATH=${prefix}\\;${path}" "-Dwanted_part=${part}")
endforeach()
run("${CMAKE_COMMAND}" --build "${consumer}" --config Debug)
run("${consumer}/small")

# says(PATTERN ARGUMENT...): the command refuses the arguments as a wrong use, in such words.
function(says pattern)
    execute_process(COMMAND "${prefix}/bin/krylith" ${ARGN} RESULT_VARIABLE status ERROR_VARIABLE said
                    OUTPUT_QUIET)
    expect("${said}" matches "${pattern}" "krylith ${ARGN}")
    if(NOT status EQUAL 2)
        message(FATAL_ERROR "krylith ${ARGN}: status ${status}, allowed is 2")
    endif()
endfunction()
file(WRITE "${WORK_DIR}/a.mtx" "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 2\n2 2 3\n")
run("${prefix}/bin/krylith" solve "${WORK_DIR}/a.mtx")
says("without its gallery .KRYLITH_GALLERY=OFF." solve gallery:poisson2d:4)
says("without gallery .KRYLITH_GALLERY=OFF." gallery)
says("without graph .KRYLITH_GRAPHS=OFF." graph bfs "${WORK_DIR}/a.mtx" --source 1)
says("KRYLITH_SPMSPV=OFF" solve "${WORK_DIR}/a.mtx" --operator adaptive)
says("without products with sparse vectors .KRYLITH_SPMSPV=OFF." spmv "${WORK_DIR}/a.mtx" --sparse ones:1)

# What needs a part that is left out is refused by CMake in words.
refuses(refused "KRYLITH_GRAPHS=ON needs KRYLITH_SPMSPV=ON" ${configure} -DKRYLITH_SPMSPV=OFF -DKRYLITH_GRAPHS=ON)
refuses(refused "KRYLITH_TESTS=ON needs KRYLITH_GALLERY=ON" ${configure} -DKRYLITH_GALLERY=OFF -DKRYLITH_TESTS=ON)
refuses(refused "KRYLITH_BENCH=ON needs all parts" ${configure} -DKRYLITH_STREAMING=OFF -DKRYLITH_BENCH=ON)
