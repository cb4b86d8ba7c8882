#===- Tools.cmake - The tools, their manual pages and completion -----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The build makes manual pages and completion from the output of the tools.

set(made ${CMAKE_CURRENT_BINARY_DIR})
find_program(ATTUNE_GZIP gzip)

# Adds a manual page |tool|.1, compressed if gzip is installed, that the following command writes.
function(attune_add_page tool)
  set(page ${made}/${tool}.1)
  set(compress)
  if(ATTUNE_GZIP)
    set(compress COMMAND ${ATTUNE_GZIP} -9nf ${page})
    string(APPEND page .gz)
  endif()
  add_custom_command(OUTPUT ${page} COMMAND ${ARGN} ${compress} DEPENDS ${tool} COMMENT "Manual page of ${tool}" VERBATIM)
  set_property(GLOBAL APPEND PROPERTY ATTUNE_MANUALS ${page})
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
endfunction()

set(commands attune-run)
set(ir_tools)
if(ATTUNE_ENABLE_COMPILER)
  list(APPEND commands attune)
  set(ir_tools attune-opt attune-lsp-server attune-reduce)
endif()
foreach(tool IN LISTS commands)
  attune_add_page(${tool} ${tool} --help=man > ${made}/${tool}.1)
  add_custom_command(OUTPUT ${made}/${tool}.bash COMMAND ${tool} --help=bash > ${made}/${tool}.bash DEPENDS ${tool}
    COMMENT "Completion of ${tool}" VERBATIM)
  set_property(GLOBAL APPEND PROPERTY ATTUNE_MANUALS ${made}/${tool}.bash)
  install(FILES ${made}/${tool}.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${tool} COMPONENT tools)
endforeach()

# The tools on IR have MLIR's flags and MLIR's format of --help.
set(attune-opt_title "run passes and phases on IR")
set(attune-lsp-server_title "language server for IR of every phase")
set(attune-reduce_title "make IR that shows a problem smaller")
foreach(tool IN LISTS ir_tools)
  attune_add_page(${tool} ${CMAKE_COMMAND} -D TOOL=$<TARGET_FILE:${tool}> -D NAME=${tool} -D TITLE=${${tool}_title}
    -D VERSION=${PROJECT_VERSION} -D PAGE=${made}/${tool}.1 -P ${CMAKE_CURRENT_LIST_DIR}/HelpToManual.cmake)
endforeach()

# MLIR's library is only in LLVM's folder, where the loader does not search by default.
if(ATTUNE_ENABLE_COMPILER)
  set_target_properties(attune ${ir_tools} PROPERTIES INSTALL_RPATH "${LLVM_LIBRARY_DIR}")
endif()
set_target_properties(attune-run PROPERTIES INSTALL_RPATH "")
# The Python package copies tools out of the build folder. CMake pads the rpath of the build tree with ':', that is,
# with empty folders, which the loader takes for the current one.
set_target_properties(${commands} ${ir_tools} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
install(TARGETS ${commands} ${ir_tools} EXPORT AttuneTools RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
install(EXPORT AttuneTools NAMESPACE Attune:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Attune COMPONENT tools)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/attune RENAME copyright COMPONENT runtime)

get_property(pages GLOBAL PROPERTY ATTUNE_MANUALS)
add_custom_target(attune-manuals ALL DEPENDS ${pages})
