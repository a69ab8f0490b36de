# The krylith command: tools/main.cpp, the rest of tools/ as a library that the tests link too, and, unless
# KRYLITH_BENCH is OFF, krylith-bench with the benchmarks of bench/.

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
    # Not QUICKLY: solvers and searches are templates, whose loops on the host are compiled here.
    krylith_compile_options(krylith_tool_parts)
    krylith_unity(krylith_tool_parts)
    set(scope PUBLIC)
else()
    set(scope INTERFACE)
endif()
target_include_directories(krylith_tool_parts ${scope} "${KRYLITH_PRIVATE_INCLUDE_DIR}")
target_link_libraries(krylith_tool_parts ${scope}
    krylith::krylith krylith_dep_cli11 krylith_dep_json krylith_dep_fmt)

if(EXISTS "${main}")
    # krylith hands `krylith bench` over to krylith-bench, which alone needs what benchmarks compare with.
    add_executable(krylith_tool "${main}" "${without_benchmarks}")
    target_link_libraries(krylith_tool PRIVATE krylith_tool_parts)
    set(programs krylith_tool)
    if(KRYLITH_BENCH)
        add_subdirectory(bench)
        add_executable(krylith_bench "${main}")
        target_link_libraries(krylith_bench PRIVATE krylith_bench_parts krylith_tool_parts)
        list(APPEND programs krylith_bench)
    endif()
    set_target_properties(${programs} PROPERTIES
        LINKER_LANGUAGE CXX
        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
    set_target_properties(krylith_tool PROPERTIES OUTPUT_NAME krylith)
    if(KRYLITH_BENCH)
        set_target_properties(krylith_bench PROPERTIES OUTPUT_NAME krylith-bench)
    endif()
    foreach(program IN LISTS programs)
        krylith_compile_options(${program})
    endforeach()
    install(TARGETS ${programs} COMPONENT command)
    include(KrylithManual)
endif()
