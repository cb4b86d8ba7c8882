#===- Documentation.cmake - Pages on IR, examples and configurations -------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# TableGen generates the pages on operations, attributes and passes from their definitions (`mlir-doc`).

set(documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/attune)
set(pages)
if(ATTUNE_ENABLE_COMPILER)
  list(APPEND pages dialect/XfmrDialect dialect/XfmrPasses compiler/AttuneTransformsPasses compiler/AttuneWeightsPasses
    compiler/AttuneCPUPasses)
  add_custom_target(attune-reference ALL)
  add_dependencies(attune-reference mlir-doc)
endif()
if(ATTUNE_ENABLE_NVVM AND ATTUNE_ENABLE_COMPILER)
  list(APPEND pages compiler/AttuneNVVMPasses)
endif()
if(ATTUNE_ENABLE_HALIDE AND ATTUNE_ENABLE_COMPILER)
  list(APPEND pages compiler/HalideDialect compiler/AttuneHalidePasses)
endif()
foreach(page IN LISTS pages)
  install(FILES ${PROJECT_BINARY_DIR}/docs/${page}.md DESTINATION ${documents}/reference COMPONENT development)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/dialect/ATTENTION.md ${PROJECT_SOURCE_DIR}/dialect/RATIONALE.md
  DESTINATION ${documents}/reference COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${documents} COMPONENT development FILES_MATCHING PATTERN *.md)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${documents} COMPONENT development PATTERN out EXCLUDE PATTERN configs EXCLUDE)
# The configurations for `attune init`, which makes a model with generated weights.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/configs DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/attune COMPONENT tools)
