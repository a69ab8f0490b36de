# Run by cpack between installation and packing: what Debian wants in every package (copyright and
# changelog, compressed manual pages) and nobody else does.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER "${component}" key)
    set(root "${CPACK_TEMPORARY_DIRECTORY}/${component}/usr")
    set(docs "${root}/share/doc/${CPACK_DEBIAN_${key}_PACKAGE_NAME}")
    file(MAKE_DIRECTORY "${docs}")
    set(texts "${CPACK_KRYLITH_SOURCE_DIR}/cmake/package")
    file(COPY_FILE "${texts}/copyright" "${docs}/copyright")
    file(COPY_FILE "${texts}/changelog" "${docs}/changelog")
    file(GLOB manuals "${root}/share/man/man*/*.[1-9]")
    file(GLOB archives "${root}/lib/*.a" "${root}/lib/*/*.a")
    execute_process(COMMAND gzip -9nf "${docs}/changelog" ${manuals} COMMAND_ERROR_IS_FATAL ANY)
    if(archives)
        execute_process(COMMAND strip --strip-debug --enable-deterministic-archives
                                --remove-section=.comment ${archives} COMMAND_ERROR_IS_FATAL ANY)
    endif()
endforeach()
