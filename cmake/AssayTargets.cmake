# assay_library(NAME [DIR dir] [DEPS target...])
#
# A static library `assay_NAME` of every .cc file of a folder (default: the folder NAME below the
# calling one). Folders hold one idea each, so the list is the folder.
function(assay_library name)
  cmake_parse_arguments(ARG "" "DIR" "DEPS" ${ARGN})
  if(NOT ARG_DIR)
    set(ARG_DIR ${name})
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_DIR}/*.cc)
  set(target assay_${name})
  if(NOT sources)
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${ARG_DEPS})
    return()
  endif()
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC ${ARG_DEPS})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ASSAY_UNITY} UNITY_BUILD_BATCH_SIZE 12)
endfunction()

# assay_binary(NAME SOURCES file... DEPS target...): a program in build/<preset>/bin.
function(assay_binary name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${ASSAY_UNITY} UNITY_BUILD_BATCH_SIZE 12)
endfunction()

# assay_test(NAME [DIR dir] [LABELS label...] [DEPS target...]): one GoogleTest program of every
# *_test.cc in a folder below tests/, one ctest entry each test case.
function(assay_test name)
  cmake_parse_arguments(ARG "" "DIR;TIMEOUT" "LABELS;DEPS" ${ARGN})
  if(NOT ARG_DIR)
    set(ARG_DIR ${name})
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_DIR}/*.cc)
  if(NOT sources)
    return()
  endif()
  set(target ${name}_test)
  string(REPLACE "/" "_" target ${target})
  add_executable(${target} ${sources})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE ${ARG_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(
    ${target} PRIVATE ASSAY_SOURCE_DIR="${CMAKE_SOURCE_DIR}" ASSAY_BINARY_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}"
  )
  set_target_properties(
    ${target} PROPERTIES UNITY_BUILD ${ASSAY_UNITY} UNITY_BUILD_BATCH_SIZE 12 RUNTIME_OUTPUT_DIRECTORY
                         ${CMAKE_BINARY_DIR}/tests
  )
  if("threads" IN_LIST ARG_LABELS)
    # What the thread sanitizer is for.
    if(NOT TARGET threads_tests)
      add_custom_target(threads_tests)
    endif()
    add_dependencies(threads_tests ${target})
  endif()
  include(GoogleTest)
  gtest_discover_tests(
    ${target}
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}"
  )
endfunction()
