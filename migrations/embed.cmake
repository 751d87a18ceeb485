# Puts migrations/*.sql into a library, so that the binary carries its schema.
#
# assay_embed_migrations(TARGET) generates a source file at build time, which defines
# EmbeddedMigrations() (server/store/migrations.h); the generating is this same file in script mode.
# Files are numbered without gaps from 0001: NNNN_name.sql.

function(assay_embed_migrations target)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/migrations/*.sql)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_migrations.cc)
  set(script ${CMAKE_SOURCE_DIR}/migrations/embed.cmake)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DFILES=${files}" -P ${script}
    DEPENDS ${files} ${script}
    COMMENT "Embedding migrations"
    VERBATIM
  )
  target_sources(${target} PRIVATE ${output})
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  set(entries "")
  set(expected 1)
  list(SORT FILES)
  foreach(path IN LISTS FILES)
    get_filename_component(file_name ${path} NAME)
    if(NOT file_name MATCHES "^([0-9][0-9][0-9][0-9])_([a-z0-9_]+)\\.sql$")
      message(FATAL_ERROR "migrations/${file_name}: the name must be NNNN_name.sql")
    endif()
    set(name ${CMAKE_MATCH_2})
    string(REGEX REPLACE "^0+" "" number ${CMAKE_MATCH_1})
    if(NOT number EQUAL expected)
      message(FATAL_ERROR "migrations/${file_name}: the next number is ${expected}")
    endif()
    math(EXPR expected "${expected} + 1")
    file(READ ${path} sql)
    string(FIND "${sql}" ")assay_sql\"" closing)
    if(NOT closing EQUAL -1)
      message(FATAL_ERROR "migrations/${file_name}: contains the end of a C++ raw string")
    endif()
    string(APPEND entries "    {${number}, \"${name}\", R\"assay_sql(${sql})assay_sql\"},\n")
  endforeach()
  file(
    WRITE ${OUTPUT}
    "// Generated from migrations/*.sql.\n#include \"server/store/migrations.h\"\n\n"
    "namespace assay::store {\n\nabsl::Span<const Migration> EmbeddedMigrations() {\n"
    "  static constexpr Migration kMigrations[] = {\n${entries}  };\n  return kMigrations;\n}\n\n"
    "}  // namespace assay::store\n"
  )
endif()
