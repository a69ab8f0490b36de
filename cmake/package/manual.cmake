# Writes the manual pages PAGES/krylith.1 and PAGES/krylith-COMMAND.1 by HELP2MAN from what KRYLITH
# says about itself.
execute_process(COMMAND "${KRYLITH}" --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE ";" "," help "${help}") # which would end an element of a list
string(REGEX REPLACE "^.*\nSubcommands:\n" "" help "${help}")
string(REGEX REPLACE "\n\n.*$" "" help "${help}")
string(REGEX MATCHALL "\n  [a-z0-9-]+ +[A-Z][^\n]*" lines "\n${help}")
if(NOT lines)
    message(FATAL_ERROR "krylith --help lists no subcommands: ${help}")
endif()

file(REMOVE_RECURSE "${PAGES}")
file(MAKE_DIRECTORY "${PAGES}")
# write_page PAGE SUMMARY WORD...: the page of the command that the words are.
function(write_page page summary)
    list(JOIN ARGN " " command)
    execute_process(COMMAND "${HELP2MAN}" --no-info "--version-string=${VERSION}" "--name=${summary}"
                            "--manual=krylith" "--output=${PAGES}/${page}.1" "${command}"
                    COMMAND_ERROR_IS_FATAL ANY)
    # man and apropos look for a name without spaces.
    file(READ "${PAGES}/${page}.1" text)
    string(REGEX REPLACE "(\n.SH NAME\n)[^\\\n]*" "\\1${page} " text "${text}")
    string(TOUPPER "${page}" title)
    string(REGEX REPLACE "\n.TH KRYLITH \"1\" \"([^\"]*)\" \"[^\"]*\""
           "\n.TH ${title} \"1\" \"\\1\" \"krylith ${VERSION}\"" text "${text}")
    file(WRITE "${PAGES}/${page}.1" "${text}")
endfunction()
foreach(line IN LISTS lines)
    string(REGEX MATCH "\n  ([a-z0-9-]+) +([A-Z])([^\n]*)" line "${line}")
    set(name "${CMAKE_MATCH_1}")
    set(rest "${CMAKE_MATCH_3}")
    string(TOLOWER "${CMAKE_MATCH_2}" first)
    write_page("krylith-${name}" "${first}${rest}" "${KRYLITH}" "${name}")
endforeach()
write_page(krylith "Krylov solvers for sparse linear systems" "${KRYLITH}")
