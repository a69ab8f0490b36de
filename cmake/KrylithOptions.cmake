# krylith_option(NAME HELP DEFAULT [AUTO]): an option that is ON or OFF, in any of CMake's words for these, or,
# where that is allowed, AUTO. Other values, which CMake would take for OFF, are refused.
function(krylith_option name help default)
    if(ARGN)
        set(${name} ${default} CACHE STRING "${help}")
        set_property(CACHE ${name} PROPERTY STRINGS ${ARGN} ON OFF)
    else()
        option(${name} "${help}" ${default})
    endif()
    string(TOUPPER "${${name}}" value)
    if(value MATCHES "^(ON|YES|TRUE|Y|1)$")
        set(value ON)
    elseif(value MATCHES "^(OFF|NO|FALSE|N|0|)$")
        set(value OFF)
    elseif(NOT value IN_LIST ARGN)
        list(JOIN ARGN ", " others)
        string(REGEX REPLACE ".+" "\\0, " others "${others}")
        message(FATAL_ERROR "${name} is '${${name}}': allowed are ${others}ON and OFF")
    endif()
    set(${name} ${value} PARENT_SCOPE)
endfunction()

# CMake takes these for patterns or lists: sources would be left out without a word.
foreach(folder IN ITEMS "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
    if(folder MATCHES "[][*?;]")
        message(FATAL_ERROR "krylith can't be built in ${folder}: the path has '${CMAKE_MATCH_0}', allowed are "
                            "paths without [ ] * ? and ;")
    endif()
endforeach()
