# Runs PROGRAM. With REPORTS, it must fail and its output match; without, succeed and print nothing.
execute_process(COMMAND "${PROGRAM}" RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE err)
set(output "${out}${err}")

if(REPORTS)
    if(result EQUAL 0)
        message(FATAL_ERROR "the planted bug went unpunished (exit status 0)\n${output}")
    elseif(NOT output MATCHES "${REPORTS}")
        message(FATAL_ERROR "no report '${REPORTS}' (exit status ${result})\n${output}")
    endif()
elseif(NOT result EQUAL 0 OR NOT output STREQUAL "")
    message(FATAL_ERROR "a correct program was reported (exit status ${result})\n${output}")
endif()
