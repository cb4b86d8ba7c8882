#===- AttuneAddModel.cmake - attune_add_model() ----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#[[
attune_add_model(NAME MODEL [FLAGS FLAG...] [RUNTIME TARGET])

Compiles MODEL, a model folder or IR in a .mlir file, with `attune compile`, and makes a library target NAME: what links it has the object in it, the
runtime (Attune::runtime unless RUNTIME says another), and finds NAME.h. NAME.weights is made in the current binary folder, where programs that are
built there find it by themselves; otherwise give its path, the target's property ATTUNE_WEIGHTS, to attune_model_open.

  attune_add_model(bert ${CMAKE_CURRENT_SOURCE_DIR}/models/bert FLAGS --cpu=x86-64-v3 --limit length=128)
  target_link_libraries(server PRIVATE bert)
]]
function(attune_add_model name model)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "RUNTIME" "FLAGS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "attune_add_model(${name}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}; expected FLAGS or RUNTIME")
  endif()
  if(NOT TARGET Attune::attune)
    message(FATAL_ERROR "attune_add_model(${name}): the compiler `attune` is not installed beside the runtime")
  endif()
  if(NOT ARG_RUNTIME)
    set(ARG_RUNTIME Attune::runtime)
  endif()
  get_filename_component(model "${model}" ABSOLUTE)
  if(IS_DIRECTORY "${model}")
    file(GLOB sources CONFIGURE_DEPENDS "${model}/*.json" "${model}/*.safetensors")
  else()
    set(sources "${model}")
  endif()
  set(stem "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  add_custom_command(OUTPUT "${stem}.o" "${stem}.h" "${stem}.weights"
    COMMAND Attune::attune compile "${model}" -o "${stem}.o" "--name=${name}" ${ARG_FLAGS}
    DEPENDS ${sources} COMMENT "Compiling model ${name}" VERBATIM)
  add_custom_target(${name}_model DEPENDS "${stem}.o" "${stem}.h" "${stem}.weights")
  add_library(${name} INTERFACE)
  add_dependencies(${name} ${name}_model)
  target_sources(${name} INTERFACE "${stem}.o" "${stem}.h")
  set_source_files_properties("${stem}.o" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  target_include_directories(${name} INTERFACE "${CMAKE_CURRENT_BINARY_DIR}")
  target_link_libraries(${name} INTERFACE ${ARG_RUNTIME})
  set_target_properties(${name} PROPERTIES ATTUNE_WEIGHTS "${stem}.weights")
endfunction()
