# Each file of examples/ is a program example_NAME that checks itself, and a test example.NAME that
# runs it without arguments. Files that it writes go to the folder examples/ of the build tree.
# eigen*.cpp needs Eigen and mfem*.cpp needs MFEM: without them it is left out, and CMake says so.

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.cpp")
file(GLOB cuda_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.cu")
if(KRYLITH_HAVE_CUDA)
    list(APPEND sources ${cuda_sources})
endif()
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/examples")

include(KrylithMfem)
find_path(KRYLITH_eigen_INCLUDE_DIR Eigen/Core PATH_SUFFIXES eigen3 include/eigen3
          DOC "Folder that holds Eigen/Core")
mark_as_advanced(KRYLITH_eigen_INCLUDE_DIR)
if(KRYLITH_eigen_INCLUDE_DIR)
    krylith_need(eigen)
endif()

foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    cmake_path(GET source EXTENSION LAST_ONLY extension)
    string(REGEX MATCH "^(eigen|mfem)" needed "${name}")
    if(needed AND NOT TARGET krylith_dep_${needed})
        message(STATUS "krylith: without examples/${name}.cpp (${needed} was not found)")
        continue()
    endif()
    krylith_needs_missing_part(incomplete "${source}")
    if(incomplete)
        message(STATUS "krylith: without examples/${name}${extension} (it uses a part that is left out)")
        continue()
    endif()
    add_executable(example_${name} "${source}")
    set_target_properties(example_${name} PROPERTIES
        LINKER_LANGUAGE CXX
        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
    krylith_compile_options(example_${name})
    target_link_libraries(example_${name} PRIVATE krylith::krylith)
    if(needed)
        target_link_libraries(example_${name} PRIVATE krylith_dep_${needed})
    endif()
    if(name MATCHES "^cusparse")
        target_link_libraries(example_${name} PRIVATE CUDA::cusparse)
    endif()
    if(PROJECT_IS_TOP_LEVEL)
        add_test(NAME example.${name} COMMAND example_${name}
                 WORKING_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
        krylith_test_properties(example.${name})
        set_tests_properties(example.${name} PROPERTIES LABELS example)
        if(extension STREQUAL ".cu")
            set_tests_properties(example.${name} PROPERTIES LABELS "example;cuda")
        endif()
    endif()
endforeach()

# heat compares times, and the memory of its process: alone, and without what AddressSanitizer keeps.
if(PROJECT_IS_TOP_LEVEL AND TARGET example_heat)
    set_tests_properties(example.heat PROPERTIES RUN_SERIAL ON)
    if(KRYLITH_SANITIZE STREQUAL "address")
        set(environment ${KRYLITH_TEST_ENVIRONMENT})
        list(TRANSFORM environment REPLACE "^ASAN_OPTIONS=" "ASAN_OPTIONS=quarantine_size_mb=0:thread_local_quarantine_size_kb=0:")
        set_tests_properties(example.heat PROPERTIES ENVIRONMENT "${environment}")
    endif()
endif()
