# The library: every .cpp below the rooms, and every .cu with CUDA.
# Headers are <krylith/ROOM/NAME.hpp> here as after install: the build tree has a folder
# include/krylith with a symbolic link to each room and to krylith.hpp, and the generated config.hpp.

set(KRYLITH_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include")
file(MAKE_DIRECTORY "${KRYLITH_INCLUDE_DIR}/krylith")
configure_file("${PROJECT_SOURCE_DIR}/cmake/config.hpp.in" "${KRYLITH_INCLUDE_DIR}/krylith/config.hpp")

# The same for code that isn't installed: <krylith/tools/NAME.hpp>, <krylith/tests/NAME.hpp> ...
set(KRYLITH_PRIVATE_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include_private")
file(MAKE_DIRECTORY "${KRYLITH_PRIVATE_INCLUDE_DIR}/krylith")
foreach(folder IN ITEMS tools tests bench)
    file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${folder}"
         "${KRYLITH_PRIVATE_INCLUDE_DIR}/krylith/${folder}" SYMBOLIC)
endforeach()

file(CREATE_LINK "${PROJECT_SOURCE_DIR}/krylith.hpp" "${KRYLITH_INCLUDE_DIR}/krylith/krylith.hpp"
     SYMBOLIC)

set(sources "")
foreach(room IN LISTS KRYLITH_ROOMS)
    file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${room}" "${KRYLITH_INCLUDE_DIR}/krylith/${room}" SYMBOLIC)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${room}/*.cpp")
    list(APPEND sources ${found})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${room}/*.cu")
    if(KRYLITH_HAVE_CUDA)
        list(APPEND sources ${found})
    endif()
endforeach()

# Libraries of their own (KrylithMpi.cmake, KrylithPetsc.cmake).
list(FILTER sources EXCLUDE REGEX "/adapters/(mpi|petsc)/")
krylith_without_parts(sources)

# The kernel models that are built in: a source made from spmspv/selection/models/NAME.txt.
if(KRYLITH_SPMSPV)
    foreach(name IN ITEMS host sm_90)
        set(model "${PROJECT_SOURCE_DIR}/spmspv/selection/models/${name}.txt")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${model}")
        file(READ "${model}" ${name}_model)
    endforeach()
    configure_file("${PROJECT_SOURCE_DIR}/cmake/kernel_models.cpp.in"
                   "${PROJECT_BINARY_DIR}/generated/kernel_models.cpp" @ONLY)
    list(APPEND sources "${PROJECT_BINARY_DIR}/generated/kernel_models.cpp")
endif()

# krylith_objects(NAME OPTION FILE...): takes the FILEs, from the root, out of the sources of the library into a
# library of objects, which is compiled with OPTION, since CMake merges no sources that have options of their own.
set(object_libraries "")
function(krylith_objects name option)
    set(files ${ARGN})
    list(TRANSFORM files PREPEND "${PROJECT_SOURCE_DIR}/" REGEX "^[^/]")
    krylith_without_parts(files)
    list(REMOVE_ITEM sources ${files})
    set(sources ${sources} PARENT_SCOPE)
    set(object_libraries ${object_libraries} ${name} PARENT_SCOPE)
    add_library(${name} OBJECT ${files})
    target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:krylith,INCLUDE_DIRECTORIES>)
    target_compile_definitions(${name} PRIVATE $<TARGET_PROPERTY:krylith,COMPILE_DEFINITIONS>)
    target_compile_options(${name} PRIVATE $<TARGET_PROPERTY:krylith,COMPILE_OPTIONS> ${option})
    krylith_unity(${name})
endfunction()

# The bits of generated matrices must not depend on whether the processor can fuse a * b + c. Nor must those
# of products and sums of matrices and of prolongations, which GPUs repeat.
file(GLOB gallery CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/matrix/gallery/*.cpp")
krylith_objects(krylith_rounded_twice -ffp-contract=off ${gallery}
    sparse/spgemm/spgemm_host.cpp distributed/products/distributed_sum.cpp
    precond/coarsening/prolongation_rows.cpp precond/coarsening/make_factors.cpp
    precond/coarsening/node_aggregation.cpp precond/coarsening/node_matrix.cpp
    precond/coarsening/classical_coarsening.cpp precond/coarsening/coarse_rows.cpp
    precond/coarsening/grid_product.cpp)
# Loops over several columns: with -O3 gcc takes twice the time, for twice the code, which is not faster.
file(GLOB joint CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/solvers/joint/*.cpp")
krylith_objects(krylith_joint "$<$<CONFIG:Release>:-O2>" ${joint})

# Where libkrylith_link_* are once they are installed: below the prefix of what asks for them, or, for programs
# elsewhere, by the path. Before that, in a build for this machine, in the build folder.
set(link_folders "${CMAKE_INSTALL_FULL_LIBDIR}/krylith")
if(KRYLITH_NATIVE)
    string(APPEND link_folders ":${PROJECT_BINARY_DIR}/lib/krylith")
endif()
set_property(SOURCE "${PROJECT_SOURCE_DIR}/comm/launched_link.cpp" APPEND PROPERTY COMPILE_DEFINITIONS
    "KRYLITH_LIBRARY_FOLDER=\"${CMAKE_INSTALL_LIBDIR}\"" "KRYLITH_LINK_FOLDERS=\"${link_folders}\"")

add_library(krylith ${sources})
add_library(krylith::krylith ALIAS krylith)
krylith_compile_options(krylith)
krylith_unity(krylith)
foreach(name IN LISTS object_libraries)
    target_sources(krylith PRIVATE $<TARGET_OBJECTS:${name}>)
endforeach()
set_target_properties(krylith PROPERTIES
    LINKER_LANGUAGE CXX
    DEFINE_SYMBOL "" # the objects of a shared library are those of a static one: ccache finds them
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(krylith PUBLIC cxx_std_20)
target_include_directories(krylith PUBLIC
    "$<BUILD_INTERFACE:${KRYLITH_INCLUDE_DIR}>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_libraries(krylith PUBLIC OpenMP::OpenMP_CXX Threads::Threads PRIVATE ZLIB::ZLIB ${CMAKE_DL_LIBS})
krylith_need(xxhash) # headers only
target_link_libraries(krylith PRIVATE $<BUILD_INTERFACE:krylith_dep_xxhash>)

# METIS, NCCL and cuSPARSE are loaded when they are asked for (device/libraries/).
if(KRYLITH_HAVE_METIS)
    target_include_directories(krylith SYSTEM PRIVATE "${KRYLITH_METIS_INCLUDE_DIR}")
    if(KRYLITH_METIS_ELSEWHERE)
        target_compile_definitions(krylith PRIVATE "KRYLITH_METIS_ELSEWHERE=\"${KRYLITH_METIS_ELSEWHERE}\"")
    endif()
endif()
if(KRYLITH_HAVE_CUDA)
    # What is installed links it by a target of krylithConfig.cmake, which needs no toolkit for that.
    set(cudart CUDA::cudart)
    if(CMAKE_CUDA_RUNTIME_LIBRARY STREQUAL "Static")
        set(cudart CUDA::cudart_static)
    endif()
    target_link_libraries(krylith PUBLIC $<BUILD_INTERFACE:${cudart}> $<INSTALL_INTERFACE:krylith::cudart>)
    if(KRYLITH_HAVE_NCCL)
        target_include_directories(krylith SYSTEM PRIVATE "${KRYLITH_NCCL_INCLUDE_DIR}")
        krylith_library_elsewhere(elsewhere "${KRYLITH_NCCL_LIBRARY}")
        if(elsewhere)
            target_compile_definitions(krylith PRIVATE "KRYLITH_NCCL_ELSEWHERE=\"${elsewhere}\"")
        endif()
    endif()
    if(TARGET CUDA::nvtx3)
        target_link_libraries(krylith PRIVATE $<BUILD_INTERFACE:CUDA::nvtx3>)
    endif()
endif()
