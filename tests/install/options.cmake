# The test install.options: what CMake would take without a word, and build something else.
include("${CMAKE_CURRENT_LIST_DIR}/stranger.cmake")

file(REMOVE_RECURSE "${WORK_DIR}")
set(configure "${CMAKE_COMMAND}" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" -DKRYLITH_CUDA=OFF)
set(alone ${configure} -S "${SOURCE_DIR}" -DKRYLITH_TESTS=OFF -DKRYLITH_TOOLS=OFF -DKRYLITH_EXAMPLES=OFF)

foreach(name IN ITEMS CUDA NCCL METIS)
    refuses(refused "KRYLITH_${name} is 'maybe': allowed are AUTO, ON and OFF" ${alone} -DKRYLITH_${name}=maybe)
endforeach()
foreach(name IN ITEMS KRYLITH_GRAPHS KRYLITH_TOOLS KRYLITH_NATIVE KRYLITH_UNITY BUILD_SHARED_LIBS)
    refuses(refused "${name} is 'maybe': allowed are ON and OFF" ${alone} -D${name}=maybe)
endforeach()
refuses(refused "CMAKE_BUILD_TYPE is 'Relase'.*Set it to Release" ${alone} -DCMAKE_BUILD_TYPE=Relase)
refuses("a[x]/build" "a.x./build: the path has '.', allowed are" ${alone})

# said(RESULT ARGUMENT...): what CMake says where it accepts them.
function(said result)
    execute_process(COMMAND ${ARGN} "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}" -B "${WORK_DIR}/accepted" --fresh
                    OUTPUT_VARIABLE text ERROR_VARIABLE text COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX REPLACE "[ \n]+" " " text "${text}")
    set(${result} "${text}" PARENT_SCOPE)
endfunction()
said(text ${alone} -DKRYLITH_CUDA=no -DKRYLITH_METIS=auto -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O2)
expect("${text}" matches "without CUDA" "KRYLITH_CUDA=no is OFF")
if(METIS)
    expect("${text}" matches "krylith: METIS" "KRYLITH_METIS=auto is AUTO")
endif()
said(text ${alone} -DKRYLITH_METIS=Off)
expect("${text}" lacks "krylith: METIS" "KRYLITH_METIS=Off is OFF")

# Inside another project, which has no build type, or one.
set(inside ${configure} -S "${CMAKE_CURRENT_LIST_DIR}/inside" "-DKRYLITH_SOURCE=${SOURCE_DIR}")
said(text ${inside})
expect("${text}" matches "krylith is compiled without optimisation" "the lack of a build type must be said")
said(text ${inside} -DCMAKE_BUILD_TYPE=Release -DCMAKE_BUILD_TYPE_wanted=Release)
expect("${text}" lacks "without optimisation" "Release optimises")
