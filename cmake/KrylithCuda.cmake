# Decides on CUDA: KRYLITH_CUDA=AUTO|ON|OFF -> KRYLITH_HAVE_CUDA (0 or 1), language CUDA, CUDAToolkit.
# KRYLITH_NCCL=AUTO|ON|OFF -> KRYLITH_HAVE_NCCL, KRYLITH_NCCL_LIBRARY, KRYLITH_NCCL_INCLUDE_DIR; the
# library is loaded when it is asked for.
# There is no relocatable device code: what a .cu file needs of others it has by host functions.

krylith_option(KRYLITH_CUDA "AUTO (when nvcc is found), ON or OFF" AUTO AUTO)
set(KRYLITH_CUDA_ARCHITECTURES AUTO CACHE STRING
    "GPU architectures to build for, as 80;90; AUTO: those of the GPUs here, or else 90 (H100, H200)")

# Of the GPUs that the driver names, as 90-real: code for them alone, without PTX. Without a GPU, and for a
# library that moves to other machines, 90 with PTX, which newer GPUs run too.
function(krylith_architectures_here result)
    set(found "")
    if(KRYLITH_NATIVE)
        execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                        OUTPUT_VARIABLE capabilities ERROR_QUIET)
        string(REGEX MATCHALL "[0-9]+[.][0-9]" found "${capabilities}")
        list(REMOVE_DUPLICATES found)
        list(TRANSFORM found REPLACE "[.](.)" "\\1-real")
        list(FILTER found INCLUDE REGEX "^([89]|1[0-9])[0-9]-") # others are too old
    endif()
    if(NOT found)
        set(found 90)
    endif()
    set(${result} "${found}" PARENT_SCOPE)
endfunction()

unset(KRYLITH_HAVE_CUDA CACHE)
set(KRYLITH_HAVE_CUDA 0)
if(NOT KRYLITH_CUDA STREQUAL "AUTO" AND KRYLITH_CUDA)
    set(KRYLITH_HAVE_CUDA 1)
endif()
if(KRYLITH_SANITIZE AND KRYLITH_CUDA)
    if(KRYLITH_HAVE_CUDA)
        message(FATAL_ERROR "KRYLITH_SANITIZE is for host builds: set KRYLITH_CUDA=OFF")
    endif()
elseif(KRYLITH_CUDA)
    if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
        find_program(KRYLITH_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
                     PATH_SUFFIXES bin DOC "The CUDA compiler")
        mark_as_advanced(KRYLITH_NVCC)
        if(KRYLITH_NVCC)
            set(ENV{CUDACXX} "${KRYLITH_NVCC}")
        endif()
    endif()
    if(NOT DEFINED CMAKE_CUDA_HOST_COMPILER AND NOT DEFINED ENV{CUDAHOSTCXX}
       AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        set(ENV{CUDAHOSTCXX} "${CMAKE_CXX_COMPILER}")
    endif()
    if(KRYLITH_CUDA STREQUAL "AUTO")
        include(CheckLanguage)
        check_language(CUDA)
        if(CMAKE_CUDA_COMPILER)
            set(KRYLITH_HAVE_CUDA 1)
        endif()
    endif()
endif()

if(KRYLITH_HAVE_CUDA)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES "${KRYLITH_CUDA_ARCHITECTURES}")
        if(CMAKE_CUDA_ARCHITECTURES STREQUAL "AUTO")
            krylith_architectures_here(CMAKE_CUDA_ARCHITECTURES)
        endif()
    endif()
    enable_language(CUDA)
    # The level is that of host code, which only launches here; code for devices is always optimised.
    string(REPLACE "-O3" "-O1" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")
    if(CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA" AND CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.4)
        message(FATAL_ERROR "krylith needs CUDA 12.4 or newer (loops in graphs); "
                            "${CMAKE_CUDA_COMPILER} is ${CMAKE_CUDA_COMPILER_VERSION}")
    endif()
    if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 has not heard of it
        set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
        set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_EXTENSIONS OFF)
    # Shared: one runtime in the process. Static, as python/ has it: nothing that isn't in the driver.
    if(NOT CMAKE_CUDA_RUNTIME_LIBRARY STREQUAL "Static")
        set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
    endif()
    set(KRYLITH_CUDA_COMPRESSION "")
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
        set(KRYLITH_CUDA_COMPRESSION --compress-mode=size) # a quarter of the code for devices
    endif()
    find_package(CUDAToolkit REQUIRED)
    message(STATUS "krylith: CUDA ${CUDAToolkit_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
else()
    message(STATUS "krylith: without CUDA (KRYLITH_CUDA=${KRYLITH_CUDA})")
endif()
set(KRYLITH_HAVE_CUDA ${KRYLITH_HAVE_CUDA} CACHE INTERNAL "Whether this build drives CUDA devices")

krylith_option(KRYLITH_NCCL "Transfers by NCCL: AUTO (when nccl.h is found), ON or OFF" AUTO AUTO)
set(KRYLITH_HAVE_NCCL 0)
if(KRYLITH_HAVE_CUDA AND KRYLITH_NCCL)
    find_path(KRYLITH_NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS}
              DOC "Folder that holds nccl.h")
    find_library(KRYLITH_NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} DOC "The NCCL library")
    mark_as_advanced(KRYLITH_NCCL_INCLUDE_DIR KRYLITH_NCCL_LIBRARY)
    if(KRYLITH_NCCL_INCLUDE_DIR AND KRYLITH_NCCL_LIBRARY)
        set(KRYLITH_HAVE_NCCL 1)
        message(STATUS "krylith: NCCL ${KRYLITH_NCCL_LIBRARY}")
    elseif(NOT KRYLITH_NCCL STREQUAL "AUTO")
        message(FATAL_ERROR "KRYLITH_NCCL=${KRYLITH_NCCL}, but nccl.h and libnccl were not found (Debian, "
            "Ubuntu: package libnccl-dev). Name their prefix in CMAKE_PREFIX_PATH")
    endif()
elseif(KRYLITH_NCCL AND NOT KRYLITH_NCCL STREQUAL "AUTO")
    message(FATAL_ERROR "KRYLITH_NCCL=${KRYLITH_NCCL} needs CUDA, and KRYLITH_CUDA=${KRYLITH_CUDA}")
endif()
set(KRYLITH_HAVE_NCCL ${KRYLITH_HAVE_NCCL} CACHE INTERNAL "Whether this build has NCCL transfers")
