# KRYLITH_UNITY: several sources are compiled as one, so that the headers and templates which they share
# are compiled once. A build from nothing takes less than half the time; an edit recompiles the file's
# neighbours too. What is put together are files of one room: the first folder, in tests/ the first two.
# Among these, names in anonymous namespaces and macros must differ, and must not hide what others call.

krylith_option(KRYLITH_UNITY "Compile several sources as one: faster from nothing" ${PROJECT_IS_TOP_LEVEL})

# krylith_unity(TARGET): merges the sources of a target, except generated ones and those with options or
# definitions of their own. To be called when the target has all its sources, and these have their properties.
function(krylith_unity target)
    if(NOT KRYLITH_UNITY)
        return()
    endif()
    set(most.cpp 24)
    set(most.cu 12)
    get_target_property(sources ${target} SOURCES)
    set(kept "")
    set(groups_cuda "")
    foreach(source IN LISTS sources)
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
        cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE path)
        cmake_path(GET path EXTENSION LAST_ONLY extension)
        cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${source}" generated)
        get_source_file_property(definitions "${source}" COMPILE_DEFINITIONS)
        get_source_file_property(options "${source}" COMPILE_OPTIONS)
        string(REGEX MATCH "^(tests/)?[^/]*" room "${path}")
        string(REPLACE "/" "_" room "${room}")
        set(count count_${room}${extension})
        math(EXPR number "0${${count}} / ${most${extension}} + 1")
        set(group ${room}_${number})
        if(generated OR definitions OR options)
            list(APPEND kept "${source}")
            continue()
        elseif(extension STREQUAL ".cu")
            list(APPEND groups_cuda ${group})
            string(APPEND text_${group} "#include <krylith/${path}>\n")
        else()
            list(APPEND kept "${source}")
            set_property(SOURCE "${source}" PROPERTY UNITY_GROUP ${group})
        endif()
        math(EXPR ${count} "0${${count}} + 1")
    endforeach()
    list(REMOVE_DUPLICATES groups_cuda)
    foreach(group IN LISTS groups_cuda) # CMake merges .cu files itself since 3.31 only
        set(file "${PROJECT_BINARY_DIR}/unity/${target}/${group}.cu")
        file(CONFIGURE OUTPUT "${file}" CONTENT "${text_${group}}" @ONLY)
        list(APPEND kept "${file}")
    endforeach()
    set_target_properties(${target} PROPERTIES SOURCES "${kept}" UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    target_include_directories(${target} PRIVATE "${KRYLITH_PRIVATE_INCLUDE_DIR}")
    # gcc warns of types in anonymous namespaces wherever they don't stand in the main file. CMake includes by
    # absolute paths; where these don't get into __FILE__, a compiler cache serves other clones.
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>
        $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)
endfunction()
