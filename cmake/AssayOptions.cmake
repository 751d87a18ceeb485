# Compiler settings that hold for every target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

option(ASSAY_TESTS "Build the tests" ON)
option(ASSAY_FUZZ "Build the fuzz targets with libFuzzer (needs clang)" OFF)
option(ASSAY_UNITY "Compile the files of a library together: quicker from clean" OFF)
set(ASSAY_SANITIZE "" CACHE STRING "Value of -fsanitize=, empty for none")

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Werror -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND NOT CMAKE_BUILD_TYPE STREQUAL Debug)
  # Optimising, GCC 12 sees uninitialised members inside std::variant and std::optional that are not there
  # (GCC bug 105562 and its kind); clang-tidy's analyser looks for the real ones.
  add_compile_options(-Wno-maybe-uninitialized)
endif()
# Line tables are enough for a stack trace, and the objects are a third of the size.
string(REPLACE "-O2 -g" "-O2 -g1" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
string(REPLACE "-g" "-g1" CMAKE_CXX_FLAGS_DEBUG "${CMAKE_CXX_FLAGS_DEBUG}")

if(ASSAY_SANITIZE)
  add_compile_options(-fsanitize=${ASSAY_SANITIZE} -fno-omit-frame-pointer -O1)
  if(ASSAY_FUZZ)
    # Coverage feedback from every library; the driver is linked into the targets only.
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
  add_link_options(-fsanitize=${ASSAY_SANITIZE})
  if(ASSAY_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
