#===- DebianDepends.cmake - Dependencies of the Debian package -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cpack runs this script when the files of the package are in CPACK_TEMPORARY_DIRECTORY. The script runs dpkg-shlibdeps,
# as cpack itself would, but fills two fields: the package depends on the libraries of all programs except
# attune-halide-gen, and recommends those of attune-halide-gen (Halide), which only `--kernels=halide` needs.

find_program(ATTUNE_SHLIBDEPS dpkg-shlibdeps)
if(NOT CPACK_GENERATOR STREQUAL DEB OR NOT ATTUNE_SHLIBDEPS)
  return()
endif()

set(needed)
set(recommended)
file(GLOB_RECURSE files LIST_DIRECTORIES OFF "${CPACK_TEMPORARY_DIRECTORY}/*")
foreach(file IN LISTS files)
  file(READ "${file}" magic LIMIT 4 HEX)
  if(NOT magic STREQUAL 7f454c46 OR IS_SYMLINK "${file}")
    continue()
  endif()
  if(file MATCHES "/attune-halide-gen$")
    list(APPEND recommended -dRecommends "${file}")
  else()
    list(APPEND needed "${file}")
  endif()
endforeach()

# dpkg-shlibdeps must run in the folder of a source package.
set(source "${CPACK_TOPLEVEL_DIRECTORY}/shlibdeps")
file(WRITE "${source}/debian/control" "Source: ${CPACK_PACKAGE_NAME}\n\nPackage: ${CPACK_PACKAGE_NAME}\nArchitecture: any\n")
execute_process(COMMAND "${ATTUNE_SHLIBDEPS}" --ignore-missing-info -O ${needed} ${recommended} WORKING_DIRECTORY "${source}"
  OUTPUT_VARIABLE found ERROR_VARIABLE errors RESULT_VARIABLE status)
file(REMOVE_RECURSE "${source}")
if(status)
  message(FATAL_ERROR "dpkg-shlibdeps failed with ${status}: ${errors}")
endif()
if(found MATCHES "shlibs:Depends=([^\n]*)")
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "${CMAKE_MATCH_1}")
endif()
if(found MATCHES "shlibs:Recommends=([^\n]*)")
  string(APPEND CPACK_DEBIAN_PACKAGE_RECOMMENDS ", ${CMAKE_MATCH_1}")
endif()
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
