# The krylith command: tools/main.cpp, the rest of tools/ as a library that the tests link too, and the
# benchmarks of bench/ unless KRYLITH_BENCH is OFF.

file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/*.cpp")
if(NOT sources)
    return()
endif()
krylith_need(cli11 json fmt)

set(main "${PROJECT_SOURCE_DIR}/tools/main.cpp")
set(without_benchmarks "${PROJECT_SOURCE_DIR}/tools/bench/without_benchmarks.cpp")
list(REMOVE_ITEM sources "${main}" "${without_benchmarks}")
set(kind STATIC)
if(NOT sources)
    set(kind INTERFACE)
endif()
add_library(krylith_tool_parts ${kind} ${sources})
if(sources)
    # The solvers are templates, whose loops are compiled here; the rest of the command runs for moments.
    file(GLOB_RECURSE loops CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/solver_*.cpp")
    set_source_files_properties(${loops} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O3>")
    krylith_compile_options(krylith_tool_parts QUICKLY)
    krylith_unity(krylith_tool_parts)
    set(scope PUBLIC)
else()
    set(scope INTERFACE)
endif()
target_include_directories(krylith_tool_parts ${scope} "${KRYLITH_PRIVATE_INCLUDE_DIR}")
target_link_libraries(krylith_tool_parts ${scope}
    krylith::krylith krylith_dep_cli11 krylith_dep_json krylith_dep_fmt)

if(EXISTS "${main}")
    add_executable(krylith_tool "${main}")
    if(KRYLITH_BENCH)
        add_subdirectory(bench)
        target_link_libraries(krylith_tool PRIVATE krylith_bench_parts)
    else()
        target_sources(krylith_tool PRIVATE "${without_benchmarks}")
    endif()
    set_target_properties(krylith_tool PROPERTIES
        LINKER_LANGUAGE CXX
        OUTPUT_NAME krylith
        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
    krylith_compile_options(krylith_tool QUICKLY)
    target_link_libraries(krylith_tool PRIVATE krylith_tool_parts)
    install(TARGETS krylith_tool COMPONENT command)
    include(KrylithManual)
endif()
