# Debian packages, by `cpack -G DEB` in the build folder; scripts/package does all of it.
#
#   libkrylith-dev   library, headers, packages for CMake and pkg-config, docs
#   libkrylith0.1    the shared library, with BUILD_SHARED_LIBS
#   krylith-mpi      links between processes over MPI, for each MPI that the build has found
#   krylith          the command, its manual pages and completion
#
# A build for this processor only (KRYLITH_NATIVE) is refused when it is packed.

if(NOT PROJECT_IS_TOP_LEVEL)
    return()
endif()
set(KRYLITH_PACKAGE_MAINTAINER "krylith maintainers <maintainers@krylith.invalid>"
    CACHE STRING "Who answers for the packages: name <address>")
mark_as_advanced(KRYLITH_PACKAGE_MAINTAINER)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME krylith)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "${KRYLITH_PACKAGE_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/cmake/package/refuse_native.cmake")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/package/debian_files.cmake")
set(CPACK_KRYLITH_NATIVE "${KRYLITH_NATIVE}")
set(CPACK_KRYLITH_SOURCE_DIR "${PROJECT_SOURCE_DIR}")

set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)

set(why "krylith solves sparse linear systems A x = b by conjugate gradients, BiCGStab
or GMRES on one or several NVIDIA GPUs of one machine, from one process and
without MPI, or on the CPU. A solver is written once for any number of devices.")
set(backend "This package was built without CUDA: its devices are slices of the CPU.")
set(cuda_packages "")
set(loaded "") # when they are asked for
if(KRYLITH_HAVE_METIS)
    list(APPEND loaded libmetis5)
endif()
if(KRYLITH_HAVE_CUDA)
    set(version "${CUDAToolkit_VERSION_MAJOR}.${CUDAToolkit_VERSION_MINOR}")
    set(backend "This package was built with CUDA ${version}.")
    string(REPLACE "." "-" version "${version}")
    # By NVIDIA's names; recommended only, since CUDA may be there without packages.
    set(cuda_packages ", cuda-cudart-dev-${version}")
    set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS "cuda-cudart-${version}")
    set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "cuda-cudart-${version}")
    list(APPEND loaded "libcusparse-${version}")
    if(KRYLITH_HAVE_NCCL)
        list(APPEND loaded libnccl2)
    endif()
endif()
list(JOIN loaded ", " loaded)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "${loaded}")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "${loaded}")
if(KRYLITH_HAVE_CUDA AND KRYLITH_BENCH) # krylith bench compares with cuBLAS
    string(APPEND CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS ", libcublas-${version}")
endif()

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libkrylith-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS zlib1g-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "g++ (>= 4:12)${cuda_packages}") # brings libgomp
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "cmake (>= 3.25), pkgconf")
if(loaded)
    string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS ", ${loaded}")
endif()
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "${why}\n\n${backend}
It has the library, its headers (C++20), and files for CMake and pkg-config.")

if(BUILD_SHARED_LIBS)
    list(APPEND CPACK_COMPONENTS_ALL runtime)
    set(name "libkrylith${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
    set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME "${name}")
    set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
    set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
    set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
    file(WRITE "${PROJECT_BINARY_DIR}/package/triggers" "activate-noawait ldconfig\n")
    set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/package/triggers")
    set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "${why}\n\n${backend}")
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}")
    set(same "${name} (= ${PROJECT_VERSION})")
    string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", ${same}")
    set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "${same}")
endif()

if(TARGET krylith_tool)
    list(APPEND CPACK_COMPONENTS_ALL command)
    set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME krylith)
    set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION math)
    set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
    set(CPACK_COMPONENT_COMMAND_DESCRIPTION "${why}\n\n${backend}
It has the command krylith, which solves systems from Matrix Market files, and its
completion for bash.")
endif()

if(KRYLITH_MPI_INTERFACES)
    list(APPEND CPACK_COMPONENTS_ALL links)
    set(CPACK_DEBIAN_LINKS_PACKAGE_NAME krylith-mpi)
    set(CPACK_DEBIAN_LINKS_PACKAGE_SECTION libs)
    # Each of its libraries needs another MPI: the one that is there is loaded.
    set(CPACK_DEBIAN_LINKS_PACKAGE_DEPENDS "libc6, libstdc++6")
    set(CPACK_DEBIAN_LINKS_PACKAGE_RECOMMENDS "openmpi-bin | mpich")
    set(CPACK_COMPONENT_LINKS_DESCRIPTION "${why}\n\n${backend}
It has the libraries by which processes that mpirun has started solve together.")
endif()
include(CPack)
