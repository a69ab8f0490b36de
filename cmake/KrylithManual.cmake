# Manual pages of the command, krylith(1) and one for each of its commands, made of its --help where
# help2man is installed; and completion for bash.

install(FILES "${PROJECT_SOURCE_DIR}/tools/completion.bash" RENAME krylith
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT command)

find_program(KRYLITH_HELP2MAN help2man DOC "Makes manual pages, used when present")
mark_as_advanced(KRYLITH_HELP2MAN)
if(NOT KRYLITH_HELP2MAN)
    message(STATUS "krylith: no manual pages of the command, since help2man is not installed")
    return()
endif()
set(pages "${PROJECT_BINARY_DIR}/man")
add_custom_command(OUTPUT "${pages}/krylith.1"
    COMMAND "${CMAKE_COMMAND}" "-DKRYLITH=$<TARGET_FILE:krylith_tool>" "-DPAGES=${pages}"
            "-DHELP2MAN=${KRYLITH_HELP2MAN}" "-DVERSION=${PROJECT_VERSION}"
            -P "${PROJECT_SOURCE_DIR}/cmake/package/manual.cmake"
    DEPENDS ${programs} "${PROJECT_SOURCE_DIR}/cmake/package/manual.cmake"
    COMMENT "Writing the manual pages" VERBATIM)
add_custom_target(krylith_manual ALL DEPENDS "${pages}/krylith.1")
install(DIRECTORY "${pages}/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT command OPTIONAL
        FILES_MATCHING PATTERN "*.1")
